#include "customise/configuration_check.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "customise/health/check_scripts.hpp"
#include "customise/units/firstboot.hpp"
#include "embedded_configuration_check.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A program that can be asked whether it accepts its configuration, without starting.
struct ConfigurationReader {
    /// what messages call it
    std::string_view name;
    std::string_view program;
    /// of the paths of its configuration
    std::string_view prefix;
    /// argument of read-configuration
    std::string_view what;
    /// what a device does with a configuration that is refused
    std::string_view consequence;
    /// what it says of the user's files without naming any
    std::string_view unnamed = {};
    MoreCalls more_calls = MoreCalls::none;
    /// another prefix of its configuration, or empty
    std::string_view other_prefix = {};
};

// firewalld does not say which file it is; those of its package lie elsewhere.
constexpr std::array readers{
    ConfigurationReader{"sshd", "/usr/sbin/sshd", "/etc/ssh/sshd_config", "sshd",
                        "sshd would not start, so that nobody can log in over the network"},
    ConfigurationReader{"sudo", "/usr/sbin/visudo", "/etc/sudoers", "sudo",
                        "sudo would ignore these rules, or refuse everybody"},
    ConfigurationReader{"firewalld", "/usr/bin/firewall-offline-cmd", "/etc/firewalld/",
                        "firewalld",
                        "firewalld would not start, or take its defaults for all of it",
                        "Failed to load user configuration"},
    ConfigurationReader{"chronyd", "/usr/sbin/chronyd", "/etc/chrony", "chronyd",
                        "chronyd would not start, so that certificates and licences are checked "
                        "against a wrong clock"},
    ConfigurationReader{"skopeo", "/usr/bin/skopeo", "/etc/containers/policy.json", "policy.json",
                        "podman and CRI-O would pull no image, and start none"},
    ConfigurationReader{"skopeo", "/usr/bin/skopeo", "/etc/containers/registries.conf",
                        "registries.conf", "podman and CRI-O would pull no image",
                        "registries configuration"},
    ConfigurationReader{"nft", "/usr/sbin/nft", "/etc/nftables", "nft",
                        "nftables.service would fail, and the device has no firewall", "",
                        MoreCalls::netfilter_sockets, "/etc/sysconfig/nftables.conf"},
};

std::string first_line(std::string_view text) {
    text = trim(text);
    return std::string(text.substr(0, text.find('\n')));
}

/// The text of a line as Go's programs log it (`time="…" level=fatal msg="…"`); others are returned
/// as they are.
std::string logged_message(std::string_view line) {
    constexpr std::string_view begin = " msg=\"";
    const std::size_t at = line.find(begin);
    if (!line.starts_with("time=\"") || at == std::string_view::npos || !line.ends_with('"')) {
        return std::string(line);
    }
    std::string message;
    const std::string_view quoted = line.substr(at + begin.size());
    for (std::size_t i = 0; i + 1 < quoted.size(); ++i) {
        i += quoted[i] == '\\' && i + 2 < quoted.size() ? 1 : 0;
        message += quoted[i];
    }
    return message;
}

PlacedPaths files_of(const PlacedPaths& placed, const Tree& tree, std::string_view prefix) {
    PlacedPaths files;
    for (auto it = placed.lower_bound(std::string(prefix));
         it != placed.end() && it->first.starts_with(prefix); ++it) {
        const Entry* entry = find_entry(tree, it->first);
        if (entry != nullptr && entry->type == EntryType::file) {
            files.insert(*it);
        }
    }
    return files;
}

ProcessResult run_in_image(const Context& ctx, const Tree& tree, std::vector<std::string> argv,
                           std::string_view name, MoreCalls more = MoreCalls::none) {
    SandboxCommand command;
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    command.argv = std::move(argv);
    command.more_calls = more;
    command.name = fmt::format("{} of the image, which reads its configuration", name);
    return run_in_sandbox(ctx, command);
}

void ask(const Context& ctx, const ConfigurationReader& reader, const PlacedPaths& files,
         const Tree& tree, Mistakes& mistakes) {
    const ProcessResult result =
        run_in_image(ctx, tree,
                     {"sh", "-c", std::string(embedded::read_configuration), "read-configuration",
                      std::string(reader.what)},
                     reader.name, reader.more_calls);
    if (result.status == 0) {
        return;
    }
    std::vector<std::string> findings = findings_about(result.output, files);
    if (findings.empty() && !reader.unnamed.empty() &&
        result.output.find(reader.unnamed) != std::string::npos) {
        for (const auto& [path, file] : files) {
            findings.push_back(shown_place(file) + ": one of these files: " +
                               logged_message(last_lines(result.output, 1).front()));
        }
    }
    for (const std::string& finding : findings) {
        mistakes.add(error(ErrorKind::usage, "{} ({} of the image)", finding, reader.name)
                         .hinted(std::string(reader.consequence)));
    }
    if (findings.empty()) {
        ctx.console->warn(fmt::format(
            "{} of the image refuses its configuration, or could not be tried (status {}): {}",
            reader.name, result.status, first_line(result.output)));
    }
}

/// Drop-ins of sshd that it does not read, whatever they are called: the check of the blueprint has
/// looked at their names.
void warn_of_unread(const Context& ctx, const PlacedPaths& placed, const Tree& tree) {
    const PlacedPaths drop_ins = files_of(placed, tree, "/etc/ssh/sshd_config.d/");
    if (drop_ins.empty() || find_entry(tree, "/etc/ssh/sshd_config") == nullptr) {
        return;
    }
    const std::string main = read_entry(tree, "/etc/ssh/sshd_config");
    const auto lines = lines_of(main);
    const bool included = std::ranges::any_of(lines, [](std::string_view line) {
        return !trim(line).starts_with('#') &&
               line.find("/etc/ssh/sshd_config.d/") != std::string_view::npos;
    });
    if (included) {
        return;
    }
    for (const auto& [path, file] : drop_ins) {
        ctx.console->warn(fmt::format(
            "{}: sshd does not read {}: /etc/ssh/sshd_config of the image has no Include for it",
            shown_place(file), path));
    }
}

/// The shell that `script` says it is for, if that is one which can check a script: bash for one
/// without a first line, as greenboot runs it. Empty for other interpreters.
std::string shell_of(std::string_view script) {
    if (!script.starts_with("#!")) {
        return "bash";
    }
    const std::string first = first_line(script.substr(2));
    for (const std::string_view word : words_of(first, " \t")) {
        const std::string_view program = word.substr(word.rfind('/') + 1);
        if (program == "bash" || program == "sh" || program == "dash") {
            return std::string(program);
        }
        if (program != "env") {
            break;
        }
    }
    return {};
}

/// Lets the shell of a user's script read it; `consequence` is what a device does with one that its
/// shell does not understand.
void check_script(const Context& ctx, const PlacedPaths::value_type& script,
                  const std::string& consequence, const Tree& tree, Mistakes& mistakes) {
    const auto& [path, file] = script;
    const Entry* entry = find_entry(tree, path);
    if (entry == nullptr || entry->type != EntryType::file) {
        return;
    }
    const std::string shell = shell_of(read_entry(tree, path));
    if (shell.empty()) {
        return;
    }
    const ProcessResult result = run_in_image(ctx, tree, {shell, "-n", path}, shell);
    if (result.status != 0) {
        const auto findings = findings_about(result.output, {script});
        mistakes.add(error(ErrorKind::usage, "{} ({} of the image)",
                           findings.empty() ? shown_place(file) + ": " + first_line(result.output)
                                            : findings.front(),
                           shell)
                         .hinted(consequence));
    }
}

}  // namespace

std::vector<std::string> findings_about(std::string_view output, const PlacedPaths& files) {
    std::vector<std::string> findings;
    for (const std::string_view line : lines_of(output)) {
        // of visudo, and what sshd says after the reason
        if (line.ends_with("parsed OK") || line.find(": terminating, ") != std::string_view::npos) {
            continue;
        }
        // The longest path of those that the line has: one can be the beginning of another.
        const PlacedPaths::value_type* named = nullptr;
        for (const auto& file : files) {
            if (line.find(file.first) != std::string_view::npos &&
                (named == nullptr || file.first.size() > named->first.size())) {
                named = &file;
            }
        }
        if (named != nullptr) {
            const std::string place = shown_place(named->second);
            std::string text = logged_message(trim(line));
            const std::size_t at = text.find(named->first);
            if (at == 0) {
                text.replace(0, named->first.size(), place);
            } else {
                text = fmt::format("{}: {}", place, text);
            }
            findings.push_back(std::move(text));
        }
    }
    return findings;
}

void check_configuration(const Context& ctx, const PlacedPaths& placed,
                         const std::vector<FirstbootScript>& firstboot, const Tree& tree) {
    Mistakes mistakes;
    warn_of_unread(ctx, placed, tree);
    for (const ConfigurationReader& reader : readers) {
        PlacedPaths files = files_of(placed, tree, reader.prefix);
        if (!reader.other_prefix.empty()) {
            files.merge(files_of(placed, tree, reader.other_prefix));
        }
        if (!files.empty() && find_entry(tree, reader.program) != nullptr) {
            ask(ctx, reader, files, tree, mistakes);
        }
    }
    for (const PlacedPaths::value_type& file : placed) {
        if (is_health_check(file.first)) {
            check_script(ctx, file,
                         "a required check that fails takes every boot of the image back", tree,
                         mistakes);
        }
    }
    for (std::size_t i = 0; i < firstboot.size(); ++i) {
        check_script(ctx, {firstboot_path(i, firstboot[i]), {firstboot[i].location.text(), false}},
                     "each device runs it once, at its first boot, and never again if that fails",
                     tree, mistakes);
    }
    mistakes.throw_any("");
}

}  // namespace edgegpu
