#pragma once

#include <string>

namespace edgegpu {

/// Identifies this build of the program, also among those of the same version: the build id that
/// the linker put into it, in hexadecimal, or the SHA-256 of the program's file if it has none.
[[nodiscard]] const std::string& program_build_id();

/// Identifies this build of the program and of all libraries that it is linked to: a digest of
/// their build ids, hexadecimal, 16 digits. To be called for the first time before a library is
/// loaded at run time, because it takes those that are loaded then. For keys of results that the
/// program keeps: they may be different ones with any other program or library.
[[nodiscard]] const std::string& program_identity();

}  // namespace edgegpu
