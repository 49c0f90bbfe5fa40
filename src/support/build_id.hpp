#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// Identifies this build of the program, also among those of the same version: the build id that
/// the linker put into it, in hexadecimal, or the SHA-256 of the program's file if it has none.
[[nodiscard]] const std::string& program_build_id();

/// The same for a library that the program is linked to, whose file name begins with `name`
/// ("librpm.so."). Empty if none is loaded.
[[nodiscard]] std::string library_build_id(std::string_view name);

}  // namespace edgegpu
