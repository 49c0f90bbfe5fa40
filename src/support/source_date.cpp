#include "support/source_date.hpp"

#include <cstdlib>

#include "support/error.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

std::optional<std::int64_t> source_date_epoch() {
    const char* text = std::getenv("SOURCE_DATE_EPOCH");
    if (text == nullptr || *text == '\0') {
        return std::nullopt;
    }
    const auto value = whole_number<std::int64_t>(text);
    if (!value || *value < 0) {
        throw error(ErrorKind::usage, "SOURCE_DATE_EPOCH: '{}' is not a Unix time", text);
    }
    return value;
}

}  // namespace edgegpu
