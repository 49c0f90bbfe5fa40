#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace edgegpu {

/// What of this machine may refuse user namespaces and mounts to this process, each with the value
/// that says so: sysctls, an AppArmor profile, SELinux, a seccomp filter, no_new_privs, a
/// container. Some do not refuse anything: it is for the moment when something was refused.
/// `machine` is the root directory of `proc` and `sys`.
[[nodiscard]] std::vector<std::string> restrictions(const std::filesystem::path& machine = "/");

}  // namespace edgegpu
