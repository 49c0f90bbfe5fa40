#pragma once

#include <cstddef>
#include <string_view>

namespace edgegpu {

/// A character of UTF-8.
struct Utf8Character {
    char32_t code = 0;
    /// bytes; 0: what there is is not UTF-8
    std::size_t size = 0;
};

/// The character that `text`, which must not be empty, begins with (RFC 3629: no overlong forms,
/// no surrogates, nothing beyond U+10FFFF).
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// Whether all of it is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace edgegpu
