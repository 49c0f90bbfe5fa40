#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/source_location.hpp"

namespace edgegpu {

/// No position in a text.
inline constexpr std::size_t nowhere = std::string_view::npos;

/// A key with its value, or a table header, of a TOML document; positions are bytes.
struct TomlStatement {
    std::size_t begin = 0;
    bool header = false;
    /// After the last byte of key or header.
    std::size_t key_end = nowhere;
    /// Positions of '[' and '{' in the value that are not closed, outermost first.
    std::vector<std::size_t> open;
    /// Where the value begins, or the element of the innermost open bracket; `nowhere` before it.
    std::size_t value = nowhere;
    /// Where the string begins that has not ended; `nowhere` outside of strings.
    std::size_t string = nowhere;
    /// Dotted name without blanks and quotes: "a.b"; of a header without brackets.
    [[nodiscard]] std::string name(std::string_view text) const;
};

/// The statements of `text` as far as `end`, a position up to which it is TOML; the last is the one
/// in which `end` is. Never empty.
[[nodiscard]] std::vector<TomlStatement> toml_statements(std::string_view text, std::size_t end);

/// The end of the string that begins at `at`: after its closing quote, or the end of the line (for
/// one with three quotes, of `text`) if that is missing.
[[nodiscard]] std::size_t end_of_toml_string(std::string_view text, std::size_t at);

/// Line and column, in characters, of a byte of `text`, the document in `file`.
[[nodiscard]] SourceLocation toml_place(const std::string& file, std::string_view text,
                                        std::size_t at);

/// The byte at a line and column of the parser, which counts characters; the end of the line or of
/// `text` for a place beyond it.
[[nodiscard]] std::size_t toml_position(std::string_view text, std::uint32_t line,
                                        std::uint32_t column);

}  // namespace edgegpu
