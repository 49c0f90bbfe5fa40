#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Why the program that reads the directory of a file passes over it because of its name, as a
/// sentence: "systemd-sysctl reads only names that end with .conf: /etc/sysctl.d/99-site.conf".
/// Nothing: it reads the file, or nobody knows what reads it. Documents (README) are not meant to
/// be read.
[[nodiscard]] std::optional<std::string> unread_name(std::string_view path);

}  // namespace edgegpu
