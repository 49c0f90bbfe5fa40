#include "support/text/utf8.hpp"

namespace edgegpu {

Utf8Character first_character(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return {first, 1};
    }
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) {
        return {};
    }
    char32_t code = first & (0x7FU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) {
            return {};
        }
        code = code << 6U | (byte(i) & 0x3FU);
    }
    // Longer than necessary, halves of UTF-16's pairs, and beyond the last character.
    const bool refused = (size == 3 && code < 0x800) || (code >= 0xD800 && code <= 0xDFFF) ||
                         (size == 4 && code < 0x10000) || code > 0x10FFFF;
    return refused ? Utf8Character{} : Utf8Character{code, size};
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = first_character(text).size;
        if (size == 0) {
            return false;
        }
        text.remove_prefix(size);
    }
    return true;
}

}  // namespace edgegpu
