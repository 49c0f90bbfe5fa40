#include "blueprint/toml/toml_words.hpp"

#include <string>

#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

bool is_curly_quote(char32_t code) {
    return (code >= 0x2018 && code <= 0x201F) || code == 0xAB || code == 0xBB || code == '`';
}

bool is_invisible(char32_t code) {
    return code == 0xA0 || (code >= 0x2000 && code <= 0x200F) || code == 0x202F || code == 0x2060 ||
           code == 0x3000 || code == 0xFEFF;
}

std::optional<std::string_view> boolean_of(std::string_view word) {
    const std::string lower = lower_case(word);
    for (const std::string_view yes : {"yes", "on", "true", "y"}) {
        if (lower == yes) {
            return "true";
        }
    }
    for (const std::string_view no : {"no", "off", "false", "n"}) {
        if (lower == no) {
            return "false";
        }
    }
    return std::nullopt;
}

bool is_null(std::string_view word) {
    const std::string lower = lower_case(word);
    return lower == "null" || lower == "none" || lower == "nil";
}

std::string_view without_quotes(std::string_view text) {
    while (!text.empty()) {
        const Utf8Character first = first_character(text);
        if (first.size == 0 ||
            (first.code != '"' && first.code != '\'' && !is_curly_quote(first.code))) {
            break;
        }
        text.remove_prefix(first.size);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t size = 1; size <= 3 && size <= text.size(); ++size) {
            const std::string_view last = text.substr(text.size() - size);
            const Utf8Character end = first_character(last);
            if (end.size == size &&
                (end.code == '"' || end.code == '\'' || is_curly_quote(end.code))) {
                text.remove_suffix(size);
                changed = true;
                break;
            }
        }
    }
    return text;
}

}  // namespace edgegpu
