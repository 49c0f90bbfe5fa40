#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace edgegpu {

/// No policy module is larger.
inline constexpr std::uint64_t package_limit = 64U << 20U;

/// What a compiled policy module (`.pp`, a module package of libsepol) says of itself.
struct PolicyPackage {
    std::string name;
    std::string version;
    /// its file contexts, lines of file_contexts(5)
    std::string contexts;
};

/// Reads a module package, also one compressed with bzip2 as packages ship them. Throws
/// ErrorKind::usage beginning with `shown` for what is cut off, is a base policy, or something else
/// altogether.
[[nodiscard]] PolicyPackage read_policy_package(std::string content, const std::string& shown);

/// Throws ErrorKind::usage "SHOWN:7: …" where parentheses or quotes of CIL do not match, or it is
/// no text.
void check_cil(std::string_view text, const std::string& shown);

}  // namespace edgegpu
