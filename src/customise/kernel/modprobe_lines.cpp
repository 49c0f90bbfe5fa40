#include "customise/kernel/modprobe_lines.hpp"

#include <map>
#include <string_view>

#include <fmt/format.h>

#include "support/text/text.hpp"

namespace edgegpu {

std::string ConfigurationLine::place() const {
    return fmt::format("{}:{}", file, number);
}

void each_line(const Tree& tree, const std::string& file,
               const std::function<void(const ConfigurationLine&)>& use) {
    const Entry* entry = find_entry(tree, file);
    if (entry == nullptr || entry->type != EntryType::file) {
        return;  // masked by a link to /dev/null, or a dangling link
    }
    const std::string text = read_entry(tree, file);
    std::size_t number = 0;
    ConfigurationLine line{file, 0, {}};
    for (const std::string_view part : lines_of(text)) {
        ++number;
        line.number = line.text.empty() ? number : line.number;
        line.text += part;
        if (line.text.ends_with('\\')) {  // continued on the next line
            line.text.back() = ' ';
            continue;
        }
        const std::size_t first = line.text.find_first_not_of(" \t");
        if (first != std::string::npos && line.text[first] != '#' && line.text[first] != ';') {
            use(line);
        }
        line.text.clear();
    }
}

std::vector<std::string> files_in_effect(const Tree& tree, const std::string& name) {
    std::map<std::string, std::string> files;
    for (const char* top : {"/etc/", "/usr/lib/"}) {
        const std::string directory = top + name;
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string file = path.substr(directory.size() + 1);
            if (file.ends_with(".conf") && file.find('/') == std::string::npos) {
                files.emplace(file, path);
            }
        }
    }
    std::vector<std::string> paths;
    paths.reserve(files.size());
    for (const auto& [file, path] : files) {
        paths.push_back(path);
    }
    return paths;
}

}  // namespace edgegpu
