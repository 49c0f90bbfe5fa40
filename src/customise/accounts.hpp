#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Adds the blueprint's groups, then its users, to passwd, group, shadow, gshadow, subuid and
/// subgid. No program of the image runs, so that the result depends on nothing but those files:
/// numbers are the lowest free ones from 1000 up unless given, the date of the last password
/// change stays empty. A user or group that exists already is changed as the blueprint says.
///
/// Home directories lie in /var, which a commit does not carry: they become lines of
/// /usr/lib/tmpfiles.d/edgegpu-users.conf. SSH keys go to /etc/ssh/authorized_keys.d/NAME, so that
/// an update can replace or withdraw them; sshd is told by a drop-in, or, where its
/// configuration includes none, the key is copied to the home directory once.
///
/// Throws ErrorKind::usage with the blueprint's line for a number that is taken, a supplementary
/// group or shell that the image does not have, or a malformed name.
void add_accounts(const Context& ctx, const Blueprint& blueprint, Tree& tree);

/// Where a home directory really is on a device: "/home/x" → "/var/home/x", "/root" →
/// "/var/roothome"; other paths are returned as they are.
[[nodiscard]] std::string deployed_home(const std::string& home);

}  // namespace edgegpu
