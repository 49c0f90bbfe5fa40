#include "customise/units/firstboot.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/toml/mistakes.hpp"
#include "customise/units/unit_check.hpp"
#include "customise/units/units.hpp"
#include "customise/units/vendor_unit.hpp"
#include "sandbox/sandbox.hpp"
#include "support/error.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* unit_name = "edgegpu-firstboot.service";
constexpr const char* unit_path = "/usr/lib/systemd/system/edgegpu-firstboot.service";
constexpr const char* scripts_directory = "/usr/libexec/edgegpu/firstboot";

/// Appends the units of `more` that `all` does not have. systemd ignores names without a suffix.
void add_units(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& name : more) {
        const std::string unit = full_unit_name(name);
        if (std::find(all.begin(), all.end(), unit) == all.end()) {
            all.push_back(unit);
        }
    }
}

void check_interpreter(const FirstbootScript& script, const Tree& tree) {
    const std::string line = script.contents.substr(2, script.contents.find('\n') - 2);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string program = first == std::string::npos
                                    ? std::string()
                                    : line.substr(first, line.find_first_of(" \t", first) - first);
    if (!program.starts_with('/') || find_entry(tree, program) == nullptr) {
        throw error(ErrorKind::usage,
                    "{}: the image has no '{}', which runs first boot script '{}'",
                    script.location.text(), program, script.name)
            .hinted("add the package that contains it");
    }
}

/// What the unit of `[parent]` runs and how it is ordered; its scripts come first.
struct EarlierScripts {
    std::string commands;
    std::vector<std::string> after;
    std::vector<std::string> before;
};

EarlierScripts earlier_scripts(const Tree& tree) {
    EarlierScripts earlier;
    const std::string text =
        find_entry(tree, unit_path) == nullptr ? std::string() : read_entry(tree, unit_path);
    for (const std::string_view line : lines_of(text)) {
        const std::size_t equals = line.find('=');
        const std::string_view key = line.substr(0, equals);
        if (key == "ExecStart") {
            earlier.commands += fmt::format("{}\n", line);
        } else if (key == "After" || key == "Before") {
            std::vector<std::string>& units = key == "After" ? earlier.after : earlier.before;
            for (const std::string_view unit : words_of(line.substr(equals + 1), " ")) {
                units.emplace_back(unit);
            }
        }
    }
    return earlier;
}

}  // namespace

std::string firstboot_path(std::size_t index, const FirstbootScript& script) {
    return fmt::format("{}/{:02}-{}", scripts_directory, index + 1, script.name);
}

void add_firstboot(const Context& ctx, const std::vector<FirstbootScript>& scripts, Tree& tree) {
    if (scripts.empty()) {
        return;
    }
    std::vector<std::string> after{"network-online.target"};
    EarlierScripts earlier = earlier_scripts(tree);
    add_units(after, earlier.after);
    std::vector<std::string> before = std::move(earlier.before);
    std::string commands = std::move(earlier.commands);
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const FirstbootScript& script = scripts[i];
        check_interpreter(script, tree);
        const std::string path = firstboot_path(i, script);
        // Registration commands contain keys, so only root may read them.
        const Entry entry = make_file_entry(ctx, script.contents, 0700);
        const Entry* old = find_entry(tree, path);
        if (old != nullptr && old->digest != entry.digest) {
            throw error(ErrorKind::usage, "{}: the image has a first boot script {} already",
                        script.location.text(), path)
                .hinted("give yours another name: that of the parent runs before it");
        }
        put_entry(tree, path, entry);
        const std::string command =
            fmt::format("ExecStart={}{}\n", script.ignore_failure ? "-" : "", path);
        if (old == nullptr || commands.find(command) == std::string::npos) {
            commands += command;
        }
        add_units(after, script.after);
        add_units(before, script.before);
    }
    const std::string ordering =
        before.empty() ? "" : fmt::format("Before={}\n", fmt::join(before, " "));
    add_vendor_unit(ctx, tree, "edgegpu-firstboot.service", "multi-user.target",
                    fmt::format("[Unit]\n"
                                "Description=First boot scripts of the image\n"
                                "ConditionPathExists=!/var/lib/edgegpu/firstboot.done\n"
                                "Wants=network-online.target\n"
                                "After={}\n"
                                "{}"
                                "\n"
                                "[Service]\n"
                                "Type=oneshot\n"
                                "RemainAfterExit=yes\n"
                                "StateDirectory=edgegpu\n"
                                "ExecStartPre=/usr/bin/touch /var/lib/edgegpu/firstboot.done\n"
                                "{}",
                                fmt::join(after, " "), ordering, commands));
}

void require_no_firstboot_cycle(const std::vector<FirstbootScript>& scripts,
                                const std::string& output) {
    Mistakes mistakes;
    for (const std::vector<std::string>& cycle : ordering_cycles(output)) {
        if (std::ranges::find(cycle, unit_name) == cycle.end()) {
            continue;
        }
        for (const FirstbootScript& script : scripts) {
            for (const auto& [key, names] :
                 {std::pair<const char*, const std::vector<std::string>&>{"before", script.before},
                  {"after", script.after}}) {
                for (const std::string& name : names) {
                    const std::string unit = full_unit_name(name);
                    if (std::ranges::find(cycle, unit) != cycle.end()) {
                        mistakes.add(
                            error(ErrorKind::usage,
                                  "{}: first boot script '{}' cannot run {} {}: these units would "
                                  "wait for each other, so that systemd leaves one out: {}",
                                  script.location.text(), script.name, key, unit,
                                  fmt::join(cycle, ", "))
                                .hinted("first boot scripts run after network-online.target, and "
                                        "so after all that the network needs"));
                    }
                }
            }
        }
    }
    mistakes.throw_any("");
}

void check_firstboot_order(const Context& ctx, const std::vector<FirstbootScript>& scripts,
                           const Tree& tree) {
    SandboxCommand command;
    command.argv = {"systemd-analyze", "--man=no", "verify", unit_name, "multi-user.target"};
    const std::size_t without_order = command.argv.size();
    for (const FirstbootScript& script : scripts) {
        for (const std::vector<std::string>* names : {&script.before, &script.after}) {
            for (const std::string& name : *names) {
                const std::string unit = full_unit_name(name);
                if (find_entry(tree, "/usr/lib/systemd/system/" + unit) != nullptr ||
                    find_entry(tree, "/etc/systemd/system/" + unit) != nullptr) {
                    command.argv.push_back(unit);
                }
            }
        }
    }
    if (command.argv.size() == without_order) {
        return;
    }
    if (find_entry(tree, "/usr/bin/systemd-analyze") == nullptr) {
        ctx.console->warn(
            "the order of first boot scripts is not verified: the image has no systemd-analyze");
        return;
    }
    command.root = tree.root;
    command.kernel = tree.kernel;
    command.read_only_root = true;
    const ProcessResult result = run_in_sandbox(ctx, command);
    require_no_firstboot_cycle(scripts, result.output);
    // 1 is that any of these units has a fault.
    if (result.status != 0 && result.status != 1) {
        ctx.console->warn(fmt::format(
            "the order of first boot scripts is not verified: systemd-analyze ended with status {}",
            result.status));
    }
}

}  // namespace edgegpu
