#include "blueprint/toml/toml_depth.hpp"

#include <algorithm>

#include "blueprint/toml/toml_statements.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t deepest = 64;

}  // namespace

void require_shallow_toml(const std::string& file, std::string_view text) {
    std::size_t brackets = 0;
    std::size_t dots = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            at = end_of_toml_string(text, at);
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
            throw error_at(toml_place(file, text, at),
                           "malformed TOML: nested deeper than {} levels", deepest);
        }
        ++at;
    }
}

}  // namespace edgegpu
