#include "support/text/shell_text.hpp"

#include <algorithm>

namespace edgegpu {

std::string shell_word(std::string_view word) {
    std::string text = "'";
    for (const char c : word) {
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return text + '\'';
}

std::string fill_in(std::string_view text, const std::map<std::string_view, std::string>& values) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = std::min(text.find('@', at), text.size());
        out += text.substr(at, begin - at);
        const std::size_t end = text.find('@', begin + 1);
        const auto value = end == std::string_view::npos
                               ? values.end()
                               : values.find(text.substr(begin + 1, end - begin - 1));
        if (value != values.end()) {
            out += value->second;
            at = end + 1;
        } else {
            out += text.substr(begin, 1);
            at = begin + 1;
        }
    }
    return out;
}

}  // namespace edgegpu
