#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/repository.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Writes the repositories of `[[customizations.repositories]]` to /etc/yum.repos.d, keys that are
/// given as text to /etc/pki/rpm-gpg, and `releasever`, unless empty, to /etc/dnf/vars/releasever:
/// the release that the device's dnf uses instead of that of its packages. Warns if it replaces a
/// file, or if the image does not have a key file; throws ErrorKind::usage if that has no key.
void add_device_repositories(const Context& ctx, const std::vector<DeviceRepository>& repositories,
                             const std::string& releasever, Tree& tree);

/// Adds to `mistakes` what is not a public key among those that are given as text.
void check_inline_keys(const std::vector<DeviceRepository>& repositories, Mistakes& mistakes);

/// Applies `[customizations.rhsm.config]` to the configuration of dnf's plugins and to
/// /etc/rhsm/rhsm.conf. Throws ErrorKind::usage with the blueprint's line if the image does not
/// have the file.
void set_subscription(const Context& ctx, const std::optional<SubscriptionRequest>& subscription,
                      Tree& tree);

/// The text of an INI file (as Python's configparser reads it) with `key` of `[section]` set to
/// `value`: in the existing line, else at the end of the section, which is appended if missing.
/// All other lines stay.
[[nodiscard]] std::string with_ini_value(const std::string& text, const std::string& section,
                                         const std::string& key, const std::string& value);

}  // namespace edgegpu
