#pragma once

#include <cstdint>
#include <string>

namespace edgegpu {

/// Maximum size of a policy module, bytes.
inline constexpr std::uint64_t package_limit = 64U << 20U;

/// Metadata of a compiled policy module (`.pp`, a module package of libsepol).
struct PolicyPackage {
    std::string name;
    std::string version;
    /// Its file contexts, lines of file_contexts(5).
    std::string contexts;
};

/// Reads a module package, plain or compressed with bzip2. Throws ErrorKind::usage beginning with
/// `shown` if it is truncated, corrupt, a base policy, or not a policy module.
[[nodiscard]] PolicyPackage read_policy_package(std::string content, const std::string& shown);

}  // namespace edgegpu
