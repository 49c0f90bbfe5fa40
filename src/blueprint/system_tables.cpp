#include <string>
#include <utility>
#include <vector>

#include "blueprint/tables.hpp"
#include "blueprint/validate.hpp"

namespace edgegpu {

namespace {

std::vector<std::string> read_modules(const TableReader& table, std::string_view key) {
    std::vector<std::string> modules;
    for (const LocatedString& module : table.strings(key)) {
        require_kernel_module_name(module.location, module.value);
        modules.push_back(module.value);
    }
    return modules;
}

SoftDependency read_soft_dependency(const TableReader& table) {
    SoftDependency others;
    others.pre = read_modules(table, "pre");
    others.post = read_modules(table, "post");
    table.finish();
    if (others.pre.empty() && others.post.empty()) {
        throw error_at(table.location(), "a soft dependency without modules")
            .hinted("as in softdeps = { nvidia = { post = [\"nvidia-uvm\"] } }");
    }
    return others;
}

}  // namespace

void read_modprobe(const TableReader& table, ModprobeRequest& modprobe) {
    modprobe.location = table.location();
    modprobe.blacklist = read_modules(table, "blacklist");
    if (const auto options = table.table("options")) {
        for (const std::string& module : options->keys()) {
            require_kernel_module_name(options->location(module), module);
            modprobe.options[module] = options->required_string(module);
        }
    }
    if (const auto softdeps = table.table("softdeps")) {
        for (const std::string& module : softdeps->keys()) {
            require_kernel_module_name(softdeps->location(module), module);
            if (const auto others = softdeps->table(module)) {
                modprobe.softdeps[module] = read_soft_dependency(*others);
            }
        }
    }
    table.finish();
}

}  // namespace edgegpu
