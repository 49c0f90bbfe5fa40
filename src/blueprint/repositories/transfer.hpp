#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// The value of a `proxy` key for TransferSettings; "" becomes "_none_". Throws at `location`
/// unless it is the URL of a proxy that libcurl supports; the message does not quote it, since it
/// may contain a password.
[[nodiscard]] std::string checked_proxy(const SourceLocation& location, std::string_view key,
                                        std::string_view value);

/// A value of `proxy_auth_method`, case-insensitive. Throws at `location` for any other.
[[nodiscard]] ProxyAuthentication parse_proxy_auth_method(const SourceLocation& location,
                                                          std::string_view key,
                                                          std::string_view value);

/// Seconds in the format of dnf.conf(5): a number with optional fraction and optional unit s, m, h
/// or d. Nothing for anything else, or more than a day.
[[nodiscard]] std::optional<int> parse_seconds(std::string_view text);

/// Bytes per second in the format of dnf.conf(5): a number with optional fraction and optional unit
/// k, M or G, powers of 1024. Nothing for anything else, or what does not fit an int.
[[nodiscard]] std::optional<int> parse_bandwidth(std::string_view text);

}  // namespace edgegpu
