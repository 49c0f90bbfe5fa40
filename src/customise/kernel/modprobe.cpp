#include "customise/kernel/modprobe.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/error.hpp"
#include "support/text/kernel_module_name.hpp"

namespace edgegpu {

namespace {

/// Adds the modules of an argument "KEY=a,b".
void add_named_modules(std::string_view argument, std::string_view key,
                       std::set<std::string>& modules) {
    if (!argument.starts_with(key)) {
        return;
    }
    argument.remove_prefix(key.size());
    while (!argument.empty()) {
        const std::size_t comma = std::min(argument.find(','), argument.size());
        modules.insert(kernel_module_name(argument.substr(0, comma)));
        argument.remove_prefix(std::min(comma + 1, argument.size()));
    }
}

std::string make_rules(const ModprobeRequest& request) {
    std::string rules;
    for (const std::string& module : request.blacklist) {
        require_kernel_module_name(request.location, module);
        rules += fmt::format("blacklist {}\n", module);
    }
    for (const auto& [module, options] : request.options) {
        require_kernel_module_name(request.location, module);
        if (options.empty() || has_control_characters(options)) {
            throw error_at(request.location, "the options of kernel module \"{}\" are not one line",
                           module);
        }
        if (options.ends_with('\\')) {
            throw error_at(request.location,
                           "the options of kernel module \"{}\" end with a backslash, which "
                           "continues the line in modprobe.d",
                           module)
                .hinted("leave it out");
        }
        rules += fmt::format("options {} {}\n", module, options);
    }
    for (const auto& [module, others] : request.softdeps) {
        require_kernel_module_name(request.location, module);
        rules += fmt::format("softdep {}", module);
        for (const auto& [when, names] :
             {std::pair<const char*, const std::vector<std::string>&>{"pre", others.pre},
              {"post", others.post}}) {
            if (!names.empty()) {
                rules += fmt::format(" {}: {}", when, fmt::join(names, " "));
            }
        }
        rules += '\n';
    }
    return rules;
}

}  // namespace

void add_modprobe(const Context& ctx, const ModprobeRequest& request, Tree& tree) {
    const std::string rules = make_rules(request);
    if (rules.empty()) {
        return;
    }
    const Entry entry = make_file_entry(ctx, rules, 0644);
    const Entry* old = find_entry(tree, modprobe_path);
    if (old != nullptr && old->digest != entry.digest) {
        throw error_at(request.location, "the image has a file {} already", modprobe_path)
            .hinted(
                "[modprobe] writes that file: give yours another name; if it is that of [parent], "
                "leave [modprobe] out, and put more into a file of another name in "
                "/etc/modprobe.d (customizations.files)");
    }
    put_entry(tree, modprobe_path, entry);

    std::string dracut = fmt::format("install_items+=\" {} \"\n", modprobe_path);
    if (!request.blacklist.empty()) {
        dracut += fmt::format("omit_drivers+=\" {} \"\n", fmt::join(request.blacklist, " "));
    }
    put_entry(tree, "/usr/lib/dracut/dracut.conf.d/90-edgegpu.conf",
              make_file_entry(ctx, dracut, 0644));
}

std::vector<std::string> blacklist_arguments(const ModprobeRequest& request,
                                             const std::vector<std::string>& given) {
    std::vector<std::string> arguments;
    for (const std::string_view key : {"rd.driver.blacklist=", "modprobe.blacklist="}) {
        std::set<std::string> known;
        for (const std::string& argument : given) {
            add_named_modules(argument, key, known);
        }
        std::vector<std::string> missing;
        for (const std::string& module : request.blacklist) {
            if (known.insert(kernel_module_name(module)).second) {
                missing.push_back(module);
            }
        }
        if (!missing.empty()) {
            arguments.push_back(fmt::format("{}{}", key, fmt::join(missing, ",")));
        }
    }
    return arguments;
}

}  // namespace edgegpu
