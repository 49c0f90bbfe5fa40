#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// What a file of /proc or /sys has, which says of itself that it is empty, up to 64 KiB; nothing
/// if it cannot be read, as that of a process that has just ended.
[[nodiscard]] std::optional<std::string> read_proc_file(const std::string& path);

/// Whether the text begins with the number of a process of this machine that runs.
[[nodiscard]] bool is_running_process(std::string_view number);

}  // namespace edgegpu
