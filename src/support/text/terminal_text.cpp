#include "support/text/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

/// A range of characters, with both ends.
struct Range {
    char32_t first;
    char32_t last;
};

/// What drives a terminal, has no glyph, or changes the order of others: controls, and of Unicode
/// 15 the line separators, the format characters without a glyph, "default ignorable" characters
/// (DerivedCoreProperties.txt) and variation selectors, which carry data unseen. Not the two
/// selectors that say how an emoji looks.
constexpr std::array<Range, 24> unseen{
    {{0x00, 0x08},       {0x0B, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},
     {0x34F, 0x34F},     {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
     {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
     {0x2800, 0x2800},   {0x3164, 0x3164},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0D},
     {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},
     {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}}};

bool is_unseen(char32_t code) {
    const auto* const range =
        std::lower_bound(unseen.begin(), unseen.end(), code,
                         [](const Range& one, char32_t wanted) { return one.last < wanted; });
    return range != unseen.end() && range->first <= code;
}

/// As JSON escapes it, so that a document remains what it was.
std::string escaped(char32_t code) {
    if (code < 0x10000) {
        return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
    }
    const std::uint32_t pair = static_cast<std::uint32_t>(code) - 0x10000;
    return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (pair >> 10U), 0xDC00 + (pair & 0x3FFU));
}

/// Bytes of a sequence that sets colours and the like (ECMA-48's SGR), with which `text` begins.
std::size_t color_size(std::string_view text) {
    constexpr std::size_t longest = 12;
    if (!text.starts_with("\033[")) {
        return 0;
    }
    const std::size_t end = text.find_first_not_of("0123456789;", 2);
    return end != std::string_view::npos && end < longest && text[end] == 'm' ? end + 1 : 0;
}

std::string without_unseen(std::string_view text, bool keep_colors) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        if (const std::size_t size = keep_colors ? color_size(text) : 0; size != 0) {
            result += text.substr(0, size);
            text.remove_prefix(size);
            continue;
        }
        const Utf8Character character = first_character(text);
        const bool plain = character.size != 0 && !is_unseen(character.code);
        const std::size_t size = std::max<std::size_t>(character.size, 1);
        if (plain) {
            result += text.substr(0, size);
        } else if (character.code >= 0x20) {
            result += escaped(character.code);
        } else {
            // Of a byte that is not UTF-8, and of what no JSON document contains as it is.
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
        }
        text.remove_prefix(size);
    }
    return result;
}

bool continues_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return !continues_character(c); }));
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
    return without_unseen(text, false);
}

std::string printable_result(std::string_view text) {
    return without_unseen(text, true);
}

std::string printable_line(std::string_view text) {
    std::string result = printable(text);
    std::ranges::replace(result, '\n', ' ');
    std::ranges::replace(result, '\t', ' ');
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
    static constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1023.5 && unit + 1 < units.size()) {
        value /= 1024;
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
