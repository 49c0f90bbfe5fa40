#include "support/assignments.hpp"

#include "support/glib.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

std::map<std::string, std::string, std::less<>> read_assignments(std::string_view text) {
    std::map<std::string, std::string, std::less<>> values;
    for (const std::string_view raw : lines_of(text)) {
        const std::string_view line = trim(raw);
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || line.starts_with('#')) {
            continue;
        }
        std::string value(trim(line.substr(equals + 1)));
        if (const TextHandle plain(g_shell_unquote(value.c_str(), nullptr)); plain) {
            value = plain.get();
        }
        values.insert_or_assign(std::string(trim(line.substr(0, equals))), std::move(value));
    }
    return values;
}

std::string assigned_value(std::string_view text, std::string_view key) {
    const auto values = read_assignments(text);
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
}

}  // namespace edgegpu
