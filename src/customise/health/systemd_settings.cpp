#include "customise/health/systemd_settings.hpp"

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

std::optional<std::string> text_of_file(const Tree& tree, std::string_view path) {
    const Entry* const entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return std::nullopt;
    }
    return read_entry(tree, path);
}

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

std::map<std::string, std::string> drop_ins_of(const Tree& tree, std::string_view file) {
    std::map<std::string, std::string> found;
    for (const std::string_view top : {"/usr/lib/systemd", "/etc/systemd"}) {
        const std::string directory = fmt::format("{}/{}.d/", top, file);
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string name = path.substr(directory.size());
            if (name.ends_with(".conf") && name.find('/') == std::string::npos) {
                found[name] = path;
            }
        }
    }
    return found;
}

}  // namespace edgegpu
