#include "blueprint/toml/toml_depth.hpp"

#include <algorithm>

#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t deepest = 64;

/// End of the string that begins at `at`: after its closing quote, or the end of the line or
/// document if that is missing.
std::size_t end_of_string(std::string_view text, std::size_t at) {
    const char quote = text[at];
    const bool long_string = text.substr(at, 3) == std::string(3, quote);
    const std::size_t length = long_string ? 3 : 1;
    for (at += length; at < text.size(); ++at) {
        if (quote == '"' && text[at] == '\\') {
            ++at;
        } else if (!long_string && text[at] == '\n') {
            return at;
        } else if (text[at] == quote &&
                   (!long_string || text.substr(at, 3) == std::string(3, quote))) {
            return at + length;
        }
    }
    return text.size();
}

}  // namespace

void require_shallow_toml(const std::string& file, std::string_view text) {
    std::size_t brackets = 0;
    std::size_t dots = 0;
    const auto place = [&](std::size_t at) {
        const std::string_view before = text.substr(0, at);
        const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
        const auto lines = std::count(before.begin(), before.end(), '\n');
        return SourceLocation{file, static_cast<std::uint32_t>(lines + 1),
                              static_cast<std::uint32_t>(at - line_start + 1)};
    };
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = end_of_string(text, at);
            continue;
        }
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '[' || c == '{') {
            ++brackets;
        } else if ((c == ']' || c == '}') && brackets > 0) {
            --brackets;
        }
        if (c == '.') {
            ++dots;
        } else if (c == '\n' || c == ',' || c == '=' || c == '[' || c == '{') {
            dots = 0;
        }
        if (brackets > deepest || dots >= deepest) {
            throw error_at(place(at), "malformed TOML: nested deeper than {} levels", deepest);
        }
        ++at;
    }
}

}  // namespace edgegpu
