#include "support/source_location.hpp"

namespace edgegpu {

std::string SourceLocation::text() const {
    return line == 0 ? file : fmt::format("{}:{}:{}", file, line, column);
}

std::string shortened(std::string_view text, std::size_t longest) {
    if (text.size() <= longest) {
        return std::string(text);
    }
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        --end;
    }
    return std::string(text.substr(0, end)) + "…";
}

}  // namespace edgegpu
