#include "customise/units/firstboot.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "customise/units/vendor_unit.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr const char* scripts_directory = "/usr/libexec/edgegpu/firstboot";

/// Appends the units of `more` that `all` does not have.
void add_units(std::vector<std::string>& all, const std::vector<std::string>& more) {
    for (const std::string& unit : more) {
        if (std::find(all.begin(), all.end(), unit) == all.end()) {
            all.push_back(unit);
        }
    }
}

void check_interpreter(const FirstbootScript& script, const Tree& tree) {
    const std::string line = script.contents.substr(2, script.contents.find('\n') - 2);
    const std::size_t first = line.find_first_not_of(" \t");
    const std::string program =
        first == std::string::npos ? std::string()
                                   : line.substr(first, line.find_first_of(" \t\r", first) - first);
    if (!program.starts_with('/') || find_entry(tree, program) == nullptr) {
        throw error(ErrorKind::usage,
                    "{}: the image has no '{}', which runs first boot script '{}'",
                    script.location.text(), program, script.name)
            .hinted("add the package that contains it");
    }
}

}  // namespace

void add_firstboot(const Context& ctx, const std::vector<FirstbootScript>& scripts, Tree& tree) {
    if (scripts.empty()) {
        return;
    }
    std::vector<std::string> after{"network-online.target"};
    std::vector<std::string> before;
    std::string commands;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const FirstbootScript& script = scripts[i];
        check_interpreter(script, tree);
        const std::string path = fmt::format("{}/{:02}-{}", scripts_directory, i + 1, script.name);
        // Registration commands contain keys, so only root may read them.
        put_entry(tree, path, make_file_entry(ctx, script.contents, 0700));
        commands += fmt::format("ExecStart={}{}\n", script.ignore_failure ? "-" : "", path);
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

}  // namespace edgegpu
