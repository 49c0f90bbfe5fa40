#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/distro/distro.hpp"

namespace edgegpu {

/// Where /etc of the machine is found that edgegpu runs on: "/", or what EDGEGPU_HOST_ROOT says,
/// which is for tests.
[[nodiscard]] std::filesystem::path host_root();

/// The machine's own distribution, from os-release(5), where it is one that has RPM packages (rhel,
/// centos, fedora, or one that says to be like them); nothing where it is another, or not known.
[[nodiscard]] std::optional<DistroName> host_distro();

/// The machine's own .repo files: /etc/yum.repos.d, sorted by name. Empty where it has none.
[[nodiscard]] std::vector<std::filesystem::path> host_repository_files();

/// The machine's own values of dnf's variables: /etc/yum/vars and /etc/dnf/vars (dnf.conf(5),
/// VARIABLES); a file's name is the variable's, its first line the value.
[[nodiscard]] std::map<std::string, std::string, std::less<>> host_variables();

}  // namespace edgegpu
