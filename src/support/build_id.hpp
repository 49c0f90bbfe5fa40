#pragma once

#include <string>
#include <string_view>

namespace edgegpu {

/// What tells builds of this program apart, of the same version too: the build id that the linker
/// put into it, in hexadecimal, or the SHA-256 of the program's file where it has none.
[[nodiscard]] const std::string& program_build_id();

/// The same of a library that the program is linked to, whose file name begins with `name`
/// ("librpm.so."). Empty where none is loaded.
[[nodiscard]] std::string library_build_id(std::string_view name);

}  // namespace edgegpu
