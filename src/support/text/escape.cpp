#include "support/text/escape.hpp"

namespace edgegpu {

namespace {

int hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The byte that the first `digits` hexadecimal digits stand for; -1 if there is none.
int hex_byte(std::string_view text, std::size_t digits) {
    if (text.size() < digits) {
        return -1;
    }
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
        const int digit = hex_value(text[i]);
        value = digit < 0 || value > 15 ? -1 : value * 16 + digit;
        if (value < 0) {
            return -1;
        }
    }
    return value;
}

}  // namespace

Escape escape_at(std::string_view text) {
    const auto hexadecimal = [&](std::size_t prefix, std::size_t digits) {
        const int value = hex_byte(text.substr(prefix), digits);
        return value < 0 ? Escape{} : Escape{static_cast<char>(value), prefix + digits};
    };
    if (text.size() < 2) {
        return {};
    }
    if (text[0] == '%') {
        return hexadecimal(1, 2);
    }
    if (text[0] != '\\') {
        return {};
    }
    switch (text[1]) {
        case 'x':
            return hexadecimal(2, 2);
        case 'u':
            return hexadecimal(2, 4);
        case 'n':
            return {'\n', 2};
        case 't':
            return {'\t', 2};
        case 'r':
            return {'\r', 2};
        case '"':
        case '\'':
        case '/':
        case '\\':
            return {text[1], 2};
        default:
            return {};
    }
}

}  // namespace edgegpu
