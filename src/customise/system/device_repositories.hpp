#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/repository.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Writes the repositories of `[[customizations.repositories]]` to /etc/yum.repos.d, with keys
/// given as text in /etc/pki/rpm-gpg, and `releasever`, what the device's dnf takes for its release
/// (/etc/dnf/vars/releasever; empty: what its packages say). A file of a package that is replaced
/// is a warning.
void add_device_repositories(const Context& ctx, const std::vector<DeviceRepository>& repositories,
                             const std::string& releasever, Tree& tree);

/// `[customizations.rhsm.config]`: the plugins of dnf and /etc/rhsm/rhsm.conf. Throws
/// ErrorKind::usage with the blueprint's line where the image has no such file.
void set_subscription(const Context& ctx, const std::optional<SubscriptionRequest>& subscription,
                      Tree& tree);

/// An INI file (as Python's configparser reads it) with `key` of `[section]` set to `value`: in
/// its line where the section has one, else at the section's end, in a section of its own at the
/// end where there is none. Everything else stays as it is.
[[nodiscard]] std::string with_ini_value(const std::string& text, const std::string& section,
                                         const std::string& key, const std::string& value);

}  // namespace edgegpu
