#include "resolve/gpu/kmp_name.hpp"

#include <algorithm>

namespace edgegpu {

std::optional<KmpName> kmp_name(std::string_view name) {
    constexpr std::string_view mark = "-kmp-";
    const std::size_t at = name.find(mark);
    const std::string generation = generation_of(name.substr(0, at));
    if (at == std::string_view::npos || generation.empty() || !name.starts_with("nvidia-") ||
        name.ends_with("-kmp-meta")) {
        return std::nullopt;
    }
    KmpName result;
    result.family = name.substr(0, at + mark.size() - 1);
    result.generation = generation;
    result.flavour = name.substr(at + mark.size());
    result.open = name.starts_with("nvidia-open-");
    result.compiled = result.family.find("-signed-") != std::string::npos;
    return result;
}

std::string driver_of_kmp(const std::string& version) {
    return version.substr(0, version.find("_k"));
}

std::string generation_of(std::string_view name) {
    if (!name.starts_with("nvidia-") && !name.starts_with("x11-video-nvidia") &&
        !name.starts_with("kernel-firmware-nvidia-")) {
        return {};
    }
    for (std::size_t at = name.find('G'); at != std::string_view::npos;
         at = name.find('G', at + 1)) {
        const std::string_view mark = name.substr(at, 3);
        const std::string_view after = name.substr(std::min(at + 3, name.size()));
        if (mark.size() == 3 && mark.find_first_not_of("0123456789", 1) == std::string_view::npos &&
            (after.empty() || after.front() == '-')) {
            return std::string(mark);
        }
    }
    return {};
}

}  // namespace edgegpu
