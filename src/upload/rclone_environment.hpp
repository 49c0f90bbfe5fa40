#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Whether a variable of the user's environment is for rclone: all are, since any may have
/// credentials, but those that would change which files rclone copies and compares, or what it
/// prints.
[[nodiscard]] bool is_for_rclone(std::string_view name);

/// The environment of rclone, "K=V": the user's, UTC, and what is set unless the user has set it.
[[nodiscard]] std::vector<std::string> rclone_environment();

}  // namespace edgegpu
