#include "schema/kubernetes_version.hpp"

#include <fmt/format.h>

#include "support/text/number.hpp"

namespace edgegpu {

std::string KubernetesVersion::text() const {
    return fmt::format("1.{}", minor);
}

std::optional<KubernetesVersion> kubernetes_of_microshift(std::string_view version) {
    constexpr std::string_view major = "4.";
    constexpr unsigned ahead = 13;
    constexpr unsigned limit = 1000;
    if (!version.starts_with(major)) {
        return std::nullopt;
    }
    version.remove_prefix(major.size());
    const auto minor = take_number<unsigned>(version);
    const bool ended = version.empty() || version.starts_with('.');
    if (!minor || !ended || *minor > limit) {
        return std::nullopt;
    }
    return KubernetesVersion{*minor + ahead};
}

}  // namespace edgegpu
