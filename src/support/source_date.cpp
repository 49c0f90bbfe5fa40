#include "support/source_date.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "support/error.hpp"

namespace edgegpu {

std::optional<std::int64_t> source_date_epoch() {
    const char* text = std::getenv("SOURCE_DATE_EPOCH");
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    std::int64_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, code] = std::from_chars(text, end, value);
    if (code != std::errc{} || stop != end || value < 0) {
        throw error(ErrorKind::usage, "SOURCE_DATE_EPOCH: '{}' is not a Unix time", text);
    }
    return value;
}

}  // namespace edgegpu
