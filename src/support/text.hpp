#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// `text` without the characters of `blanks` at both ends; a view into it.
[[nodiscard]] std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n");

/// The same at the end alone.
[[nodiscard]] std::string_view trim_end(std::string_view text, std::string_view blanks = " \t\r\n");

/// What stands between the separators, empty parts too: "a::b" has three, "" has one. Views into
/// `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of `text`, empty ones too, without their newlines; the last one may have none. Views
/// into `text`.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Takes the first line off `text`, with its newline, and gives it without.
[[nodiscard]] std::string_view take_line(std::string_view& text);

/// What stands between runs of `separators`: never empty. Views into `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text,
                                                     std::string_view separators = " \t\r\n");

/// Views into a string that ends with the statement would be of no use.
template <std::same_as<std::string> Temporary>
void lines_of(Temporary&& text) = delete;
template <std::same_as<std::string> Temporary>
void words_of(Temporary&& text, std::string_view separators = {}) = delete;

/// The last `count` lines of a program's output that are not empty, for an error.
[[nodiscard]] std::vector<std::string> last_lines(std::string_view output, std::size_t count);

/// Bytes as hexadecimal digits, in lower case as digests are written.
[[nodiscard]] std::string hexadecimal(std::string_view bytes);
/// The same in upper case, as the numbers of keys are written.
[[nodiscard]] std::string upper_hexadecimal(std::string_view bytes);

/// Whether `text` is made of lower-case hexadecimal digits and nothing else (nor empty).
[[nodiscard]] bool is_hexadecimal(std::string_view text);
/// Whether `text` is a SHA-256 as sha256_hex gives it: 64 such digits.
[[nodiscard]] bool is_sha256(std::string_view text);

/// Whether `text` begins with `start`, which is in lower case, in whatever case (ASCII alone).
[[nodiscard]] bool begins_with_any_case(std::string_view text, std::string_view start);

/// Whether `path` is `top` or lies below it; both are absolute and normal, `top` is not "/".
[[nodiscard]] bool is_below(std::string_view path, std::string_view top);

/// A C string of a library, or "" where it gives none.
[[nodiscard]] std::string text_of(const char* text);

/// `text` as a basic string of TOML 1.0, with its quotation marks.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace edgegpu
