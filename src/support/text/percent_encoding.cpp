#include "support/text/percent_encoding.hpp"

#include <algorithm>

#include "support/text/escape.hpp"

namespace edgegpu {

bool is_percent_encoded(std::string_view text) {
    return text.starts_with('%') && escape_at(text).length != 0;
}

std::string percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size();) {
        const Escape escape = text[i] == '%' ? escape_at(text.substr(i)) : Escape{};
        plain += escape.length == 0 ? text[i] : escape.value;
        i += std::max<std::size_t>(escape.length, 1);
    }
    return plain;
}

}  // namespace edgegpu
