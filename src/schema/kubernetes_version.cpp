#include "schema/kubernetes_version.hpp"

#include <charconv>

#include <fmt/format.h>

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
    unsigned minor = 0;
    const auto end = std::from_chars(version.data(), version.data() + version.size(), minor);
    const bool ended = end.ptr == version.data() + version.size() || *end.ptr == '.';
    if (end.ec != std::errc() || !ended || minor > limit) {
        return std::nullopt;
    }
    return KubernetesVersion{minor + ahead};
}

}  // namespace edgegpu
