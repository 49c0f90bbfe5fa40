#include "customise/health/systemd_settings.hpp"

#include <fmt/format.h>

namespace edgegpu {

std::optional<std::string> text_of_file(const Tree& tree, std::string_view path) {
    const Entry* const entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return std::nullopt;
    }
    return read_entry(tree, path);
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
