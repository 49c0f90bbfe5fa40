#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace edgegpu {

/// `text` with every character that a terminal would not show as itself, but newline and tab,
/// written as \xNN or \uNNNN: control characters (also U+0080 to U+009F), characters that change
/// the order of others (U+202E) or have no glyph (U+200B), bytes that are not UTF-8. Names and
/// messages come from repositories, scriptlets and images of others: they must neither drive the
/// user's terminal nor look like something else.
[[nodiscard]] std::string printable(std::string_view text);

/// The same for a whole result: keeps the sequences that set colours. A JSON document stays what it
/// is, as its strings may have any character as \uNNNN.
[[nodiscard]] std::string printable_result(std::string_view text);

/// The same on one line: newlines and tabs become spaces.
[[nodiscard]] std::string printable_line(std::string_view text);

/// `text` cut to `columns` code points of UTF-8 (wide characters count as one), the last one an
/// ellipsis ("..." if `unicode` is false) if something was cut. `text` has no escape sequences.
[[nodiscard]] std::string clip(std::string_view text, std::size_t columns, bool unicode = true);

/// "1.1 GiB", "734 MiB", "12 KiB", "17 B": units of 1024, in which disks and memory are asked for;
/// one digit below ten.
[[nodiscard]] std::string human_size(std::size_t bytes);

/// "1 path", "2 paths": the noun takes an s unless there is one.
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

}  // namespace edgegpu
