#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Writes /usr/lib/tmpfiles.d/edgegpu-users.conf, which creates the home directories of the
/// blueprint's users with the content of /etc/skel: they are in /var, which a commit does not
/// contain.
void add_homes(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree);

/// The file with the keys of a user, for whose name "%u" stands, as sshd knows it.
inline constexpr const char* authorized_keys_file = "/usr/share/edgegpu/authorized_keys.d/%u";

/// Writes the SSH keys of the blueprint's users to /usr/share/edgegpu/authorized_keys.d/NAME, where
/// each update replaces or withdraws them whatever happened to the device's /etc; see
/// add_authorized_keys_file. To be called when sshd's configuration is complete: the blueprint's
/// files may be part of it.
void add_keys(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree);

}  // namespace edgegpu
