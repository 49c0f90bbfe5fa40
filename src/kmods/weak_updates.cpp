#include "kmods/weak_updates.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/kernel_module_name.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view all_modules = "/usr/lib/modules/";

/// "default" of "6.4.0-150600.21-default"
std::string_view flavour(std::string_view kernel) {
    return kernel.substr(kernel.rfind('-') + 1);
}

/// A file below /usr/lib/modules: its kernel, and the path below the kernel's directory.
struct ModulePath {
    std::string_view kernel;
    std::string_view below;
};

ModulePath split_module_path(std::string_view path) {
    path.remove_prefix(all_modules.size());
    const std::size_t slash = std::min(path.find('/'), path.size());
    return {path.substr(0, slash), path.substr(std::min(slash + 1, path.size()))};
}

bool is_added(std::string_view below) {
    return below.starts_with("updates/") || below.starts_with("extra/");
}

}  // namespace

void link_weak_updates(Tree& tree) {
    std::set<std::string> own;
    std::map<std::string, std::string> links;
    for (const auto& [path, entry] : entries_below(tree.entries, "/usr/lib/modules")) {
        const auto [kernel, below] = split_module_path(path);
        const std::string module = module_of_file(path);
        if (entry.type == EntryType::directory || module.empty() || !is_added(below)) {
            continue;
        }
        if (kernel == tree.kernel) {
            own.insert(module);
        } else if (flavour(kernel) == flavour(tree.kernel)) {
            const auto [old, is_new] = links.emplace(below, path);
            if (!is_new) {
                throw error("{} and {} are the same kernel module, for two versions of the kernel",
                            old->second, path)
                    .hinted("remove one of the kernel module packages from the blueprint");
            }
        }
    }
    for (const auto& [below, target] : links) {
        if (!own.contains(module_of_file(target))) {
            put_entry(tree, fmt::format("{}{}/weak-updates/{}", all_modules, tree.kernel, below),
                      link_to(target));
        }
    }
}

bool is_weak_update(std::string_view path) {
    return path.starts_with(all_modules) &&
           split_module_path(path).below.starts_with("weak-updates/");
}

}  // namespace edgegpu
