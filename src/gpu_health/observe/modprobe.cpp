#include "gpu_health/observe/modprobe.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "gpu_health/observe/tree.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// Names of modules have either sign.
std::string module_name(std::string_view name) {
    std::string plain(name);
    std::replace(plain.begin(), plain.end(), '-', '_');
    return plain;
}

/// Commands that load nothing: "/bin/false", "/usr/bin/true", ":".
bool loads_nothing(std::string_view command) {
    const std::string_view program = command.substr(command.find_last_of('/') + 1);
    return program == "false" || program == "true" || program == ":";
}

/// The text with lines that end with a backslash joined.
std::string joined_lines(std::string text) {
    for (std::size_t at = 0; (at = text.find("\\\n", at)) != std::string::npos;) {
        text.replace(at, 2, "  ");
    }
    return text;
}

void read_configuration(const std::string& path, const std::string& text, const std::string& name,
                        std::vector<std::string>& found) {
    for (const std::string_view line : lines_of(text)) {
        const std::vector<std::string_view> words = words_of(line, " \t\r");
        if (words.size() < 2 || module_name(words[1]) != name) {
            continue;
        }
        if (words[0] == "blacklist") {
            found.push_back(path + ": blacklist " + name);
        } else if (words[0] == "install" && words.size() > 2 && loads_nothing(words[2])) {
            found.push_back(path + ": install " + name + " " + std::string(words[2]));
        }
    }
}

}  // namespace

std::vector<std::string> what_blocks(const Places& places, const std::string& name) {
    std::vector<std::string> found;
    std::set<std::string> seen;
    for (const char* directory : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
                                  "/usr/lib/modprobe.d", "/lib/modprobe.d"}) {
        for (const std::string& file : names_in(places.root, directory)) {
            if (!file.ends_with(".conf") || !seen.insert(file).second) {
                continue;
            }
            const std::string path = std::string(directory) + "/" + file;
            const Reading reading = read_file(places.root, path);
            read_configuration(path, joined_lines(reading.content), name, found);
        }
    }
    const std::string arguments = read_line(places.proc, "cmdline");
    for (const std::string_view argument : words_of(arguments)) {
        for (const std::string_view key : {"modprobe.blacklist=", "module_blacklist="}) {
            if (!argument.starts_with(key)) {
                continue;
            }
            for (const std::string_view one : split(argument.substr(key.size()), ',')) {
                if (module_name(one) == name) {
                    found.push_back("kernel argument " + std::string(key) + name);
                }
            }
        }
    }
    return found;
}

}  // namespace edgegpu::gpu_health
