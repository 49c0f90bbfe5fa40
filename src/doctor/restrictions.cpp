#include "doctor/restrictions.hpp"

#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// The first line of a small file; empty if it cannot be read.
std::string line_of(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    // The module's attribute ends with a NUL.
    return std::string(trim(line, std::string_view(" \t\r\n\0", 5)));
}

/// The value of a field of proc_pid_status(5); empty if it is not there.
std::string status_field(const fs::path& status, std::string_view name) {
    std::ifstream stream(status);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
            return std::string(trim(std::string_view(line).substr(name.size() + 1)));
        }
    }
    return {};
}

void add_sysctls(const fs::path& machine, std::vector<std::string>& found) {
    struct Sysctl {
        const char* name;
        const char* file;
        const char* refuses;
        const char* means;
    };
    constexpr Sysctl sysctls[] = {
        {"user.max_user_namespaces", "proc/sys/user/max_user_namespaces", "0",
         "nobody may make user namespaces"},
        {"kernel.unprivileged_userns_clone", "proc/sys/kernel/unprivileged_userns_clone", "0",
         "only root may make user namespaces"},
        {"kernel.apparmor_restrict_unprivileged_userns",
         "proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
         "AppArmor takes all rights from programs in a user namespace that have no profile"},
    };
    for (const Sysctl& sysctl : sysctls) {
        if (line_of(machine / sysctl.file) == sysctl.refuses) {
            found.push_back(fmt::format("{} is {}: {}", sysctl.name, sysctl.refuses, sysctl.means));
        }
    }
}

}  // namespace

std::vector<std::string> restrictions(const fs::path& machine) {
    std::vector<std::string> found;
    add_sysctls(machine, found);
    const fs::path status = machine / "proc/self/status";
    if (status_field(status, "Seccomp") == "2") {
        found.emplace_back(
            "a seccomp filter is on (Seccomp: 2 in /proc/self/status), as container runtimes set "
            "one: it has to allow unshare(2), mount(2), umount2(2), pivot_root(2) and setns(2)");
    }
    if (status_field(status, "NoNewPrivs") == "1") {
        found.emplace_back(
            "no_new_privs is set: newuidmap(1) and newgidmap(1), which an ordinary user needs, "
            "get no rights");
    }
    const std::string profile = line_of(machine / "proc/self/attr/current");
    const bool selinux = line_of(machine / "sys/fs/selinux/enforce") == "1";
    if (!profile.empty() && profile != "unconfined" && !profile.starts_with("unconfined_u:")) {
        found.push_back(fmt::format("{} confines this process: {}",
                                    selinux ? "SELinux" : "a security module",
                                    printable_line(profile)));
    }
    for (const auto& [file, runtime] :
         {std::pair{"run/.containerenv", "podman or CRI-O"}, {".dockerenv", "Docker"}}) {
        std::error_code ignored;
        if (fs::exists(machine / file, ignored)) {
            found.push_back(fmt::format("this is a container of {}", runtime));
        }
    }
    return found;
}

}  // namespace edgegpu
