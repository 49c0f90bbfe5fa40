#include "customise/kernel/modprobe_check.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/toml/toml_reader.hpp"
#include "customise/kernel/modprobe.hpp"
#include "customise/kernel/modprobe_lines.hpp"
#include "sandbox/sandbox.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using Words = std::vector<std::string_view>;

/// The indexes of the kernel's modules, with the aliases of modprobe.d(5).
struct Modules {
    /// module → the modules it needs
    std::map<std::string, std::vector<std::string>> needs;
    std::set<std::string> builtin;
    /// module → its aliases, shell patterns
    std::map<std::string, std::vector<std::string>> aliases;
};

Modules read_modules(const Tree& tree) {
    const std::string directory = "/usr/lib/modules/" + tree.kernel;
    Modules modules;
    each_line(tree, directory + "/modules.dep", [&](const ConfigurationLine& line) {
        const Words files = words_of(line.text, " :\t");
        std::vector<std::string>& needs = modules.needs[module_of_file(files.front())];
        for (std::size_t i = 1; i < files.size(); ++i) {
            needs.push_back(module_of_file(files[i]));
        }
    });
    each_line(tree, directory + "/modules.builtin", [&](const ConfigurationLine& line) {
        modules.builtin.insert(module_of_file(line.text));
    });
    each_line(tree, directory + "/modules.alias", [&](const ConfigurationLine& line) {
        const Words words = words_of(line.text, " \t");
        if (words.size() == 3 && words[0] == "alias") {
            modules.aliases[kernel_module_name(words[2])].emplace_back(words[1]);
        }
    });
    for (const std::string& file : files_in_effect(tree, "modprobe.d")) {
        each_line(tree, file, [&](const ConfigurationLine& line) {
            const Words words = words_of(line.text, " \t");
            if (words.size() == 3 && words[0] == "alias") {
                modules.aliases[kernel_module_name(words[2])].emplace_back(words[1]);
            }
        });
    }
    return modules;
}

/// The blueprint's blacklist, with names as the kernel spells them.
class Blacklist {
public:
    explicit Blacklist(const ModprobeRequest& request) : location_(request.location) {
        for (const std::string& module : request.blacklist) {
            names_.insert(kernel_module_name(module));
        }
    }

    [[nodiscard]] const std::set<std::string>& names() const { return names_; }
    [[nodiscard]] bool has(std::string_view module) const {
        return names_.contains(kernel_module_name(module));
    }
    /// The blacklisted module that a word names, by name or by file; or empty.
    [[nodiscard]] std::string named_by(std::string_view word) const {
        const std::string file = module_of_file(word);
        const std::string name = file.empty() ? kernel_module_name(word) : file;
        return names_.contains(name) ? name : std::string();
    }
    [[nodiscard]] Error loaded(const std::string& module, const std::string& by) const {
        return error_at(location_, "the blacklisted kernel module {} would be loaded: {}", module,
                        by);
    }

private:
    SourceLocation location_;
    std::set<std::string> names_;
};

constexpr const char* replace_hint =
    "remove the module from the blacklist, or replace the file with one of the same name below "
    "/etc";

/// The blacklisted module that a command loads ("modprobe X", "insmod x.ko"), or empty.
std::string loaded_by_command(const Blacklist& blacklist, const std::string& text) {
    const Words words = words_of(text, " \t\"'=,;&|()");
    std::string module;
    bool loads = false;
    for (const std::string_view word : words) {
        if (word == "-r" || word == "--remove" || word == "rmmod" || word == "-b" ||
            word == "--use-blacklist") {
            return {};
        }
        const std::string_view program = word.substr(word.rfind('/') + 1);
        loads = loads || program == "modprobe" || program == "insmod" || program == "kmod";
        if (loads && module.empty()) {
            module = blacklist.named_by(word);
        }
    }
    return module;
}

/// Checks softdep and install lines of modprobe.d; other lines load nothing, and aliases are
/// checked with modprobe (check_aliases).
void check_modprobe_line(const Blacklist& blacklist, const ConfigurationLine& line) {
    const Words words = words_of(line.text, " \t");
    if (words.size() < 3 || (words[0] == "softdep" && blacklist.has(words[1]))) {
        return;  // has no effect: the module itself is never loaded
    }
    std::string module;
    if (words[0] == "softdep") {
        for (std::size_t i = 2; i < words.size() && module.empty(); ++i) {
            module = blacklist.named_by(words[i]);
        }
    } else if (words[0] == "install") {
        module = loaded_by_command(blacklist, line.text.substr(line.text.find(words[1])));
    }
    if (!module.empty()) {
        throw blacklist.loaded(module, fmt::format("{}: {}", line.place(), line.text))
            .hinted(replace_hint);
    }
}

void check_configuration(const Blacklist& blacklist, const Tree& tree) {
    for (const std::string& file : files_in_effect(tree, "modprobe.d")) {
        if (file != modprobe_path) {
            each_line(tree, file,
                      [&](const ConfigurationLine& line) { check_modprobe_line(blacklist, line); });
        }
    }
    for (const std::string& file : files_in_effect(tree, "modules-load.d")) {
        each_line(tree, file, [&](const ConfigurationLine& line) {
            const std::string module = blacklist.named_by(words_of(line.text, " \t").front());
            if (!module.empty()) {
                throw blacklist.loaded(module, line.place()).hinted(replace_hint);
            }
        });
    }
}

/// The module that an instance of systemd's template modprobe@.service loads, or empty.
std::string module_of_instance(std::string_view word) {
    constexpr std::string_view prefix = "modprobe@";
    constexpr std::string_view suffix = ".service";
    const std::string_view name = word.substr(word.rfind('/') + 1);
    return name.starts_with(prefix) && name.ends_with(suffix)
               ? std::string(
                     name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()))
               : std::string();
}

void check_units_and_rules(const Blacklist& blacklist, const Tree& tree) {
    static constexpr std::array<const char*, 4> directories{
        "/etc/systemd/system", "/usr/lib/systemd/system", "/etc/udev/rules.d",
        "/usr/lib/udev/rules.d"};
    for (const char* directory : directories) {
        for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
            const std::string instance = module_of_instance(path);
            if (entry.type == EntryType::symlink && entry.target != "/dev/null" &&
                !instance.empty() && blacklist.has(instance)) {
                throw blacklist.loaded(instance, path).hinted("remove that link");
            }
            if (entry.type != EntryType::file) {
                continue;
            }
            each_line(tree, path, [&](const ConfigurationLine& line) {
                std::string module = loaded_by_command(blacklist, line.text);
                for (const std::string_view word : words_of(line.text, " \t=")) {
                    const std::string name = module_of_instance(word);
                    module = !name.empty() && blacklist.has(name) ? name : module;
                }
                if (!module.empty()) {
                    throw blacklist.loaded(module, fmt::format("{}: {}", line.place(), line.text))
                        .hinted(replace_hint);
                }
            });
        }
    }
}

void check_kernel_arguments(const Blacklist& blacklist, const Tree& tree) {
    static constexpr std::array<std::string_view, 4> loading{
        "rd.driver.pre=", "rd.driver.post=", "modules-load=", "rd.modules-load="};
    for (const std::string& argument : tree.kernel_arguments) {
        std::string text = argument;
        const std::size_t end = std::min(text.find('='), text.size());
        std::replace(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
        for (const std::string_view key : loading) {
            if (!text.starts_with(key)) {
                continue;
            }
            for (const std::string_view word :
                 words_of(std::string_view(text).substr(key.size()), ",")) {
                if (blacklist.has(word)) {
                    throw blacklist.loaded(std::string(word), "kernel argument " + argument)
                        .hinted("remove the module from the blacklist or from that argument");
                }
            }
        }
    }
}

void check_dependencies(const Blacklist& blacklist, const ModprobeRequest& request,
                        const Modules& modules) {
    for (const std::string& module : blacklist.names()) {
        if (modules.builtin.contains(module)) {
            throw error_at(request.location,
                           "the blacklisted kernel module {} is built into the kernel", module)
                .hinted("it cannot be blacklisted: remove it from the blacklist");
        }
        std::vector<std::string> users;
        for (const auto& [user, needs] : modules.needs) {
            if (!blacklist.has(user) &&
                std::find(needs.begin(), needs.end(), module) != needs.end()) {
                users.push_back(user);
            }
        }
        if (!users.empty()) {
            constexpr std::size_t shown = 8;
            const std::size_t all = users.size();
            users.resize(std::min(all, shown));
            throw blacklist
                .loaded(module, fmt::format("{}{} need{} it", fmt::join(users, ", "),
                                            all > shown ? ", …" : "", all == 1 ? "s" : ""))
                .hinted("blacklist these as well, or remove it from the blacklist");
        }
    }
}

/// Runs the image's modprobe as udev does, with every alias of a blacklisted module: it must not
/// load any of these.
void check_aliases(const Context& ctx, const Blacklist& blacklist, const Tree& tree,
                   const Modules& modules) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    command.argv = {"modprobe", "-q", "-b", "-a", "--show-depends", "-S", tree.kernel, "--"};
    const std::size_t without_aliases = command.argv.size();
    for (const std::string& module : blacklist.names()) {
        const auto found = modules.aliases.find(module);
        if (found != modules.aliases.end()) {
            // As an argument, a pattern matches itself.
            command.argv.insert(command.argv.end(), found->second.begin(), found->second.end());
        }
    }
    const bool has_modprobe = find_entry(tree, "/usr/sbin/modprobe") != nullptr ||
                              find_entry(tree, "/usr/bin/modprobe") != nullptr;
    if (command.argv.size() == without_aliases || !has_modprobe) {
        return;
    }
    // The exit status does not matter: it is not 0 if an alias resolves to nothing, as intended.
    const ProcessResult result = run_in_sandbox(ctx, command);
    for (const std::string_view line : lines_of(result.output)) {
        const Words words = words_of(line, " \t");
        const std::string module =
            words.size() >= 2 && words[0] == "insmod" ? module_of_file(words[1]) : std::string();
        if (blacklist.names().contains(module)) {
            throw blacklist.loaded(module, "the image's modprobe resolves an alias to it")
                .hinted(
                    fmt::format("{} has no effect: another file may replace it", modprobe_path));
        }
    }
}

void warn_of_missing(const Context& ctx, const ModprobeRequest& request, const Modules& modules) {
    const auto warn = [&](const std::string& module) {
        const std::string name = kernel_module_name(module);
        if (!modules.needs.contains(name) && !modules.builtin.contains(name)) {
            ctx.console->warn_of("[modprobe] names kernel modules that the image does not have",
                                 module);
        }
    };
    std::for_each(request.blacklist.begin(), request.blacklist.end(), warn);
    for (const auto& [module, options] : request.options) {
        warn(module);
    }
    for (const auto& [module, others] : request.softdeps) {
        warn(module);
        std::for_each(others.pre.begin(), others.pre.end(), warn);
        std::for_each(others.post.begin(), others.post.end(), warn);
    }
}

}  // namespace

void check_modprobe(const Context& ctx, const ModprobeRequest& request, const Tree& tree) {
    if (request.blacklist.empty() && request.options.empty() && request.softdeps.empty()) {
        return;
    }
    const Modules modules = read_modules(tree);
    warn_of_missing(ctx, request, modules);
    if (request.blacklist.empty()) {
        return;
    }
    const Blacklist blacklist(request);
    check_configuration(blacklist, tree);
    check_units_and_rules(blacklist, tree);
    check_kernel_arguments(blacklist, tree);
    check_dependencies(blacklist, request, modules);
    check_aliases(ctx, blacklist, tree, modules);
}

void check_driver_is_not_disabled(const Tree& tree) {
    const auto refuse = [](const std::string& place) {
        throw error(ErrorKind::usage, "the driver of [nvidia] would not be loaded: {}", place)
            .hinted("remove that, or [nvidia]");
    };
    const auto is_one_of = [](std::string_view name, bool blacklist) {
        const std::string module = kernel_module_name(name);
        // Who needs nvidia-uvm loads it by its name, for which a blacklist does not count.
        return module == "nvidia" || (!blacklist && module == "nvidia_uvm");
    };
    for (const std::string& file : files_in_effect(tree, "modprobe.d")) {
        each_line(tree, file, [&](const ConfigurationLine& line) {
            const Words words = words_of(line.text, " \t");
            const bool nothing =
                words.size() > 2 && (words[2].ends_with("/false") || words[2].ends_with("/true"));
            if (words.size() > 1 &&
                ((words[0] == "blacklist" && is_one_of(words[1], true)) ||
                 (words[0] == "install" && nothing && is_one_of(words[1], false)))) {
                refuse(fmt::format("{}: {}", line.place(), line.text));
            }
        });
    }
    for (const std::string& argument : tree.kernel_arguments) {
        for (const std::string_view key : {"modprobe.blacklist=", "module_blacklist="}) {
            if (argument.starts_with(key)) {
                const std::string_view list = std::string_view(argument).substr(key.size());
                const Words names = words_of(list, ",\"");
                if (std::ranges::any_of(names, [&](std::string_view name) {
                        return is_one_of(name, key.starts_with("modprobe"));
                    })) {
                    refuse("kernel argument " + argument);
                }
            }
        }
    }
}

void check_initramfs_modules(const ModprobeRequest& request,
                             const std::vector<std::string>& paths) {
    const Blacklist blacklist(request);
    for (const std::string& path : paths) {
        const std::string module = module_of_file(path);
        if (!module.empty() && blacklist.names().contains(module)) {
            throw error_at(request.location,
                           "dracut put the blacklisted kernel module {} into the initramfs", path)
                .hinted(
                    "look for add_drivers and force_drivers in /usr/lib/dracut/dracut.conf.d "
                    "and /etc/dracut.conf.d of the image");
        }
    }
}

}  // namespace edgegpu
