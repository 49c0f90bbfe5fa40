#pragma once

#include <filesystem>
#include <string_view>

namespace edgegpu {

/// Where programs are looked for that get no PATH of the user's, as PATH has it.
inline constexpr std::string_view standard_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The executable file `name` in the first of the directories (separated by colons) that has one;
/// empty if none has. Only absolute directories count: a program must not depend on the current
/// one.
[[nodiscard]] std::filesystem::path find_program(std::string_view name,
                                                 std::string_view directories);

/// The same in the user's PATH, or in the standard one if there is none.
[[nodiscard]] std::filesystem::path find_in_path(std::string_view name);

}  // namespace edgegpu
