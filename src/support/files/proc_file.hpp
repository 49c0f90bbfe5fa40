#pragma once

#include <optional>
#include <string>

namespace edgegpu {

/// What a file of /proc or /sys has, which says of itself that it is empty, up to 64 KiB; nothing
/// if it cannot be read, as that of a process that has just ended.
[[nodiscard]] std::optional<std::string> read_proc_file(const std::string& path);

}  // namespace edgegpu
