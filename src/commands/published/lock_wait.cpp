#include "commands/published/lock_wait.hpp"

#include "support/text/quantity.hpp"

namespace edgegpu {

LockWait lock_wait_of(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    return text == "0" ? std::chrono::seconds(0) : parse_duration(text);
}

}  // namespace edgegpu
