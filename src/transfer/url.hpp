#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Whether `url` begins with http:// or https://, in any case.
[[nodiscard]] bool is_web_url(std::string_view url);

/// The path of file:///PATH, file://localhost/PATH (percent-decoded) or of an absolute path;
/// nothing for other URLs.
[[nodiscard]] std::optional<std::filesystem::path> local_file(std::string_view url);

/// `location` below `base`. Characters that a URL's path cannot contain are escaped, existing
/// escapes are kept; the query of `base` ("?token=…") is appended to the path, as in dnf.
[[nodiscard]] std::string join_url(std::string_view base, std::string_view location);

/// Scheme, host and port ("https://host:443"), which credentials are bound to; empty for anything
/// but http and https.
[[nodiscard]] std::string origin_of(const std::string& url);

/// The host in lower case ("[::1]" for an IPv6 address); empty for anything but http and https.
[[nodiscard]] std::string host_of(const std::string& url);

/// `url` for messages: without user and password, and without the values of its query.
[[nodiscard]] std::string redacted(std::string_view url);

}  // namespace edgegpu
