#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/distro/distro.hpp"

namespace edgegpu {

/// Root directory of the build machine's configuration: "/", or EDGEGPU_HOST_ROOT, for tests.
[[nodiscard]] std::filesystem::path host_root();

/// The build machine's distribution, from os-release(5), if its ID or ID_LIKE is rhel, centos or
/// fedora; else nothing.
[[nodiscard]] std::optional<DistroName> host_distro();

/// The .repo files of the build machine's /etc/yum.repos.d, sorted by name.
[[nodiscard]] std::vector<std::filesystem::path> host_repository_files();

/// The build machine's dnf variables, from /etc/yum/vars and /etc/dnf/vars (dnf.conf(5),
/// VARIABLES): file name → first line.
[[nodiscard]] std::map<std::string, std::string, std::less<>> host_variables();

}  // namespace edgegpu
