#pragma once

#include <cstddef>
#include <string_view>

namespace edgegpu {

/// A character, and the length of its escape sequence in bytes; 0: there is none.
struct Escape {
    char value = 0;
    std::size_t length = 0;
};

/// The escape sequence that `text` begins with, as URLs, C, JSON and shells have them: %41, \x41,
/// \u0041, \n and the like.
[[nodiscard]] Escape escape_at(std::string_view text);

}  // namespace edgegpu
