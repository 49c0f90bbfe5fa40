#include "selinux/policy_tools.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "support/text/text.hpp"

namespace edgegpu::selinux {

namespace {

/// Files by which genhomedircon labels home directories (libsemanage's genhomedircon.c).
constexpr std::array<std::string_view, 8> home_files{
    "/etc/passwd", "/etc/group",        "/etc/login.defs",    "/etc/default/useradd",
    "/etc/shells", "/etc/libuser.conf", "/etc/nsswitch.conf", "/usr/lib/passwd"};

bool is_policy_program(std::string_view path) {
    constexpr std::array<std::string_view, 5> programs{"semodule", "sefcontext_compile", "setfiles",
                                                       "sh", "ldconfig"};
    if (path.find("/selinux/hll/") != std::string_view::npos) {
        return true;
    }
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return (path.starts_with("/usr/bin/") || path.starts_with("/usr/sbin/")) &&
           std::find(programs.begin(), programs.end(), name) != programs.end();
}

}  // namespace

bool is_of_policy(std::string_view path, const PolicyPaths& paths) {
    return is_below(path, "/etc/selinux") || is_below(path, paths.store_root);
}

ToolNeeds policy_tools(const Tree& tree, const PolicyPaths& paths,
                       const std::vector<std::string>& module_files) {
    ToolNeeds needs;
    needs.name = "policy-tools";
    needs.runs = [](std::string_view path) {
        return path.starts_with("/usr/") &&
               (is_policy_program(path) || path.substr(path.rfind('/') + 1).starts_with("libnss_"));
    };
    needs.uses = [](std::string_view) { return false; };
    needs.reads = [](std::string_view path) { return path.starts_with("/etc/ld.so.conf"); };
    needs.hidden = [paths](std::string_view path) {
        return path == "/etc/ld.so.cache" || is_of_policy(path, paths);
    };
    // Mount points of the copy.
    Entry directory;
    directory.type = EntryType::directory;
    directory.mode = 0755;
    needs.instead.emplace("/etc/selinux", directory);
    needs.instead.emplace(paths.store_root, directory);
    const auto add = [&](std::string_view path) {
        if (const Entry* entry = find_entry(tree, path);
            entry != nullptr && entry->type == EntryType::file) {
            needs.instead.emplace(path, *entry);
        }
    };
    std::for_each(home_files.begin(), home_files.end(), add);
    std::for_each(module_files.begin(), module_files.end(), add);
    return needs;
}

}  // namespace edgegpu::selinux
