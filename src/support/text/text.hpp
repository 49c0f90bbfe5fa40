#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// `text` without the characters of `blanks` at both ends; a view into it.
[[nodiscard]] std::string_view trim(std::string_view text, std::string_view blanks = " \t\r\n");

/// The same at the end alone.
[[nodiscard]] std::string_view trim_end(std::string_view text, std::string_view blanks = " \t\r\n");

/// The parts between the separators, including empty ones: "a::b" has three, "" has one. Views into
/// `text`.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The lines of `text`, including empty ones, without their newlines; the last may lack its
/// newline. Views into `text`.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Removes the first line from `text`, with its newline, and returns it without.
[[nodiscard]] std::string_view take_line(std::string_view& text);

/// The parts between runs of `separators`, never empty. Views into `text`.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text,
                                                     std::string_view separators = " \t\r\n");

/// Views into a temporary string would dangle.
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

/// Whether `text` consists of lower-case hexadecimal digits only, and is not empty.
[[nodiscard]] bool is_hexadecimal(std::string_view text);
/// Whether `text` is a SHA-256 as sha256_hex gives it: 64 such digits.
[[nodiscard]] bool is_sha256(std::string_view text);

/// `text` with ASCII letters in lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

/// Whether `text` begins with `start` (lower case), ignoring case (of ASCII only).
[[nodiscard]] bool begins_with_any_case(std::string_view text, std::string_view start);

/// Whether `path` is `top` or lies below it; both are absolute and normal, `top` is not "/".
[[nodiscard]] bool is_below(std::string_view path, std::string_view top);

/// A C string of a library, or "" for a null pointer.
[[nodiscard]] std::string text_of(const char* text);

/// The day of a time (seconds since 1970, UTC), "2025-12-31"; "no date" if it is out of range.
[[nodiscard]] std::string day_text(std::int64_t seconds);
/// The same to the minute, "2025-12-31 23:59", and as ISO 8601 has it, "2025-12-31T23:59:00Z".
[[nodiscard]] std::string minute_text(std::int64_t seconds);
[[nodiscard]] std::string iso_time(std::int64_t seconds);

/// `text` as a basic string of TOML 1.0, with its quotation marks.
[[nodiscard]] std::string toml_string(std::string_view text);

}  // namespace edgegpu
