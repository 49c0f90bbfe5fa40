#include "gpu_health/observe/modprobe.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "gpu_health/observe/tree.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// A command of modprobe.d: its words, and the file that has it.
struct ModprobeLine {
    std::string path;
    std::vector<std::string> words;

    [[nodiscard]] bool is(std::string_view command, std::size_t least) const {
        return words.size() >= least && words[0] == command;
    }
};

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

/// All commands in the order in which they count.
std::vector<ModprobeLine> modprobe_lines(const Places& places, const std::string& modules) {
    // Name → path. What depmod has collected from modules is sorted among the others.
    std::map<std::string, std::string> files{{"modules.softdep", modules + "/modules.softdep"}};
    for (const char* directory : {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
                                  "/usr/lib/modprobe.d", "/lib/modprobe.d"}) {
        for (const std::string& file : names_in(places.root, directory)) {
            if (file.ends_with(".conf") && !file.starts_with('.')) {
                files.emplace(file, std::string(directory) + "/" + file);
            }
        }
    }
    std::vector<ModprobeLine> found;
    for (const auto& [name, path] : files) {
        const std::string text = joined_lines(read_file(places.root, path).content);
        for (const std::string_view line : lines_of(text)) {
            const std::vector<std::string_view> words = words_of(line, " \t");
            if (!words.empty() && !line.starts_with('#')) {
                found.push_back({path, {words.begin(), words.end()}});
            }
        }
    }
    return found;
}

bool matches(const std::string& pattern, const std::string& text) {
    return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

/// Whether the module has a soft dependency that exists: modprobe runs no `install` then.
bool has_soft_dependency(const std::vector<ModprobeLine>& lines, const WantedModule& module) {
    const auto line = std::ranges::find_if(lines, [&](const ModprobeLine& one) {
        return one.is("softdep", 3) && matches(kernel_module_name(one.words[1]), module.name);
    });
    // The first one counts alone. "pre:" and "post:" are no names of modules.
    return line != lines.end() &&
           std::any_of(line->words.begin() + 2, line->words.end(), [&](const std::string& word) {
               return module.known.contains(kernel_module_name(word));
           });
}

void add_install(const std::vector<ModprobeLine>& lines, const WantedModule& module,
                 std::vector<std::string>& found) {
    const auto line = std::ranges::find_if(lines, [&](const ModprobeLine& one) {
        return one.is("install", 3) && kernel_module_name(one.words[1]) == module.name;
    });
    if (line != lines.end() && loads_nothing(line->words[2]) &&
        !has_soft_dependency(lines, module)) {
        found.push_back(line->path + ": install " + module.name + " " + line->words[2]);
    }
}

/// Aliases that lead each of the devices to something else.
void add_aliases(const std::vector<ModprobeLine>& lines, const WantedModule& module,
                 std::vector<std::string>& found) {
    std::vector<std::string> aliases;
    for (const std::string& device : module.devices) {
        bool leads_elsewhere = false;
        for (const ModprobeLine& line : lines) {
            if (!line.is("alias", 3) || !matches(line.words[1], device)) {
                continue;
            }
            if (kernel_module_name(line.words[2]) == module.name) {
                return;
            }
            leads_elsewhere = true;
            std::string text = line.path + ": alias " + line.words[1] + " " + line.words[2];
            if (std::ranges::find(aliases, text) == aliases.end()) {
                aliases.push_back(std::move(text));
            }
        }
        if (!leads_elsewhere) {
            return;
        }
    }
    found.insert(found.end(), aliases.begin(), aliases.end());
}

bool has_name(std::string_view list, const std::string& name) {
    const std::vector<std::string_view> names = split(list, ',');
    return std::ranges::find(names, name) != names.end();
}

void add_arguments(const Places& places, const std::string& name, std::vector<std::string>& found) {
    constexpr std::string_view kmods = "modprobe.blacklist=";
    constexpr std::string_view kernels = "module_blacklist=";
    bool by_kernel = false;
    const std::string arguments = read_line(places.proc, "cmdline");
    for (const std::string_view argument : words_of(arguments)) {
        if (argument.starts_with(kmods) && has_name(argument.substr(kmods.size()), name)) {
            found.push_back("kernel argument " + std::string(kmods) + name);
        } else if (argument.starts_with(kernels)) {
            std::string_view list = argument.substr(kernels.size());
            if (list.size() > 1 && list.starts_with('"') && list.ends_with('"')) {
                list = list.substr(1, list.size() - 2);
            }
            by_kernel = has_name(list, name);
        }
    }
    if (by_kernel) {
        found.push_back("kernel argument " + std::string(kernels) + name);
    }
}

}  // namespace

std::vector<std::string> what_blocks(const Places& places, const WantedModule& module) {
    const std::vector<ModprobeLine> lines = modprobe_lines(places, module.directory);
    std::vector<std::string> found;
    for (const ModprobeLine& line : lines) {
        if (line.is("blacklist", 2) && kernel_module_name(line.words[1]) == module.name) {
            found.push_back(line.path + ": blacklist " + module.name);
        }
    }
    add_install(lines, module, found);
    add_aliases(lines, module, found);
    add_arguments(places, module.name, found);
    return found;
}

}  // namespace edgegpu::gpu_health
