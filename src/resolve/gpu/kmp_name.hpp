#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Names and versions of NVIDIA's driver in SUSE's repositories.
namespace edgegpu {

/// What the name of a KMP with NVIDIA's driver says.
struct KmpName {
    /// Name without flavour: "nvidia-open-driver-G06-signed-cuda-kmp".
    std::string family;
    /// "G06"
    std::string generation;
    /// Of the kernel that it is for: "default", "azure", "64kb".
    std::string flavour;
    bool open = false;
    /// It has modules. Others have sources, which their scriptlet compiles.
    bool compiled = false;
};

/// Nothing for any other package.
[[nodiscard]] std::optional<KmpName> kmp_name(std::string_view name);

/// Version of the driver in that of a KMP: "550.90.07" of "550.90.07_k6.4.0_150600.21"; any other
/// version unchanged.
[[nodiscard]] std::string driver_of_kmp(const std::string& version);

/// Generation of a package of the driver, "G06" in "nvidia-compute-utils-G06"; empty for others.
[[nodiscard]] std::string generation_of(std::string_view name);

}  // namespace edgegpu
