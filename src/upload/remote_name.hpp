#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Whether rclone takes the text for a remote and not for a path of this machine: "NAME:PATH",
/// "NAME,PARAMETER=VALUE:PATH" or ":BACKEND,PARAMETER=VALUE:PATH".
[[nodiscard]] bool is_remote(std::string_view text);

/// A remote as messages may name it, without its parameters: "NAME,…:PATH".
[[nodiscard]] std::string shown_remote(std::string_view remote);

/// Values of its parameters that are secrets by their names.
[[nodiscard]] std::vector<std::string> secrets_of_remote(std::string_view remote);

}  // namespace edgegpu
