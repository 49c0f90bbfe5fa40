#include "support/terminal_text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace edgegpu {

namespace {

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

/// U+0080 to U+009F, which terminals treat like ESC and a letter.
bool is_c1_control(std::string_view text) {
    return text.size() > 1 && text[0] == '\xc2' &&
           (static_cast<unsigned char>(text[1]) & 0xe0U) == 0x80U;
}

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

/// The first `columns` code points.
std::string_view head(std::string_view text, std::size_t columns) {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!continues_character(text[i]) && seen++ == columns) {
            return text.substr(0, i);
        }
    }
    return text;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_c1_control(text.substr(i))) {
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
        } else if (is_control(text[i]) && text[i] != '\n' && text[i] != '\t') {
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
        } else {
            result += text[i];
        }
    }
    return result;
}

std::string printable_line(std::string_view text) {
    std::string result = printable(text);
    std::replace(result.begin(), result.end(), '\n', ' ');
    std::replace(result.begin(), result.end(), '\t', ' ');
    return result;
}

std::string clip(std::string_view text, std::size_t columns, bool unicode) {
    if (columns_of(text) <= columns) {
        return std::string(text);
    }
    const std::string_view mark = unicode ? "…" : "...";
    const std::size_t width = columns_of(mark);
    if (columns <= width) {
        return std::string(head(text, columns));
    }
    return std::string(head(text, columns - width)).append(mark);
}

std::string human_size(std::size_t bytes) {
    static constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        ++unit;
    }
    if (unit > 0 && value < 9.95) {
        return fmt::format("{:.1f} {}", value, units[unit]);
    }
    return fmt::format("{:.0f} {}", value, units[unit]);
}

std::string counted(std::size_t number, std::string_view noun) {
    return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace edgegpu
