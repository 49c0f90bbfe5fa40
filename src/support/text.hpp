#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// `text` without the characters of `blanks` at both ends; a view into it.
[[nodiscard]] std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n");

/// What stands between the separators, empty parts too: "a::b" has three, "" has one. Views into
/// `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// Whether `text` begins with `start`, which is in lower case, in whatever case (ASCII alone).
[[nodiscard]] bool begins_with_any_case(std::string_view text, std::string_view start);

/// Whether `path` is `top` or lies below it; both are absolute and normal, `top` is not "/".
[[nodiscard]] bool is_below(std::string_view path, std::string_view top);

/// A C string of a library, or "" where it gives none.
[[nodiscard]] std::string text_of(const char* text);

/// `text` as a basic string of TOML 1.0, with its quotation marks.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace edgegpu
