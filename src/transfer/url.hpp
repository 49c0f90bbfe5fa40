#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace edgegpu {

/// Whether `url` is http:// or https://, in any case of letters.
[[nodiscard]] bool is_web_url(std::string_view url);

/// The file of file:///PATH, file://localhost/PATH (percent signs decoded) or an absolute path;
/// nothing for other URLs.
[[nodiscard]] std::optional<std::filesystem::path> local_file(std::string_view url);

/// `location` below `base`: what is not allowed in a URL's path is escaped, escapes that are there
/// stay; the query of `base` ("?token=…") goes behind the path, as dnf has it.
[[nodiscard]] std::string join_url(std::string_view base, std::string_view location);

/// Scheme, host and port ("https://host:443"), which credentials are bound to; empty for what is no
/// URL of a server.
[[nodiscard]] std::string origin_of(const std::string& url);

/// `url` as messages may show it: without user and password, and without the values of its query.
[[nodiscard]] std::string redacted(std::string_view url);

}  // namespace edgegpu
