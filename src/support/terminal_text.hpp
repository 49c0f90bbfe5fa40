#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace edgegpu {

/// `text` with every control character (also U+0080 to U+009F) but newline and tab written as \xNN:
/// names and messages that come from repositories or scriptlets must not drive the user's terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// The same on one line: newlines and tabs become spaces.
[[nodiscard]] std::string printable_line(std::string_view text);

/// `text` cut to `columns` code points of UTF-8 (wide characters count as one), the last one an
/// ellipsis ("..." if `unicode` is false) if something was cut. `text` has no escape sequences.
[[nodiscard]] std::string clip(std::string_view text, std::size_t columns, bool unicode = true);

/// "1.1 GB", "734 MB", "12 kB", "17 B": decimal units, one digit below ten.
[[nodiscard]] std::string human_size(std::size_t bytes);

/// "1 path", "2 paths": the noun takes an s unless there is one.
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

}  // namespace edgegpu
