#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// The value of a `proxy` key as TransferSettings has it: "" and "_none_" are "_none_". Throws at
/// `location` unless it is a URL of a proxy that libcurl knows; the message does not show it,
/// since it may hold a password.
[[nodiscard]] std::string checked_proxy(const SourceLocation& location, std::string_view key,
                                        std::string_view value);

/// A value of `proxy_auth_method`, in any case of letters. Throws at `location` for any other.
[[nodiscard]] ProxyAuthentication parse_proxy_auth_method(const SourceLocation& location,
                                                          std::string_view key,
                                                          std::string_view value);

/// Seconds as dnf.conf(5) writes them: a number that may have a fraction and one of the units s, m,
/// h and d. Nothing for what is none, or is more than a day.
[[nodiscard]] std::optional<int> parse_seconds(std::string_view text);

/// Bytes a second as dnf.conf(5) writes them: a number that may have a fraction and one of the
/// units k, M and G, of 1024 each. Nothing for what is none, or does not fit an int.
[[nodiscard]] std::optional<int> parse_bandwidth(std::string_view text);

}  // namespace edgegpu
