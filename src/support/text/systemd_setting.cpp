#include "support/text/systemd_setting.hpp"

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

std::optional<std::string> last_setting(std::string_view text, std::string_view section,
                                        std::string_view key) {
    std::optional<std::string> value;
    bool inside = false;
    for (const std::string_view raw : lines_of(text)) {
        const std::string_view line = trim(raw);
        if (line.starts_with('[')) {
            inside = line == fmt::format("[{}]", section);
        }
        const std::size_t equals = line.find('=');
        if (inside && equals != std::string_view::npos && trim(line.substr(0, equals)) == key) {
            value = trim(line.substr(equals + 1));
        }
    }
    return value;
}

}  // namespace edgegpu
