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

/// Writes the SSH keys of the blueprint's users to /usr/share/edgegpu/authorized_keys.d/NAME, where
/// each update replaces or withdraws them whatever happened to the device's /etc; see
/// add_authorized_keys_file.
void add_keys(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree);

}  // namespace edgegpu
