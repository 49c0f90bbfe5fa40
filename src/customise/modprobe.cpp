#include "customise/modprobe.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

void check_module(const Blueprint& blueprint, const std::string& module) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    };
    if (module.empty() || !std::all_of(module.begin(), module.end(), plain)) {
        throw error(ErrorKind::usage, "{}: [modprobe]: '{}' is not the name of a kernel module",
                    blueprint.path.string(), module);
    }
}

}  // namespace

void add_modprobe(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const ModprobeRequest& request = blueprint.modprobe;
    if (request.blacklist.empty() && request.options.empty()) {
        return;
    }
    std::string rules;
    std::string omitted;
    for (const std::string& module : request.blacklist) {
        check_module(blueprint, module);
        rules += fmt::format("blacklist {}\n", module);
        omitted += module + ' ';
    }
    for (const auto& [module, options] : request.options) {
        check_module(blueprint, module);
        if (options.empty() ||
            options.find_first_of(std::string_view("\n\0", 2)) != std::string::npos) {
            throw error(ErrorKind::usage, "{}: [modprobe]: options of '{}' are not one line",
                        blueprint.path.string(), module);
        }
        rules += fmt::format("options {} {}\n", module, options);
    }
    put_entry(tree, modprobe_path, make_file_entry(ctx, rules, 0644));

    std::string dracut = fmt::format("install_items+=\" {} \"\n", modprobe_path);
    if (!omitted.empty()) {
        dracut += fmt::format("omit_drivers+=\" {}\"\n", omitted);
    }
    put_entry(tree, "/usr/lib/dracut/dracut.conf.d/90-edgegpu.conf",
              make_file_entry(ctx, dracut, 0644));
}

}  // namespace edgegpu
