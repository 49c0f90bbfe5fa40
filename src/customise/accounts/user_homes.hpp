#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Home directories of the blueprint's users lie in /var, which a commit does not carry: they
/// become lines of /usr/lib/tmpfiles.d/edgegpu-users.conf, with what /etc/skel has.
void add_homes(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree);

/// Keys of the blueprint's users go to /usr/share/edgegpu/authorized_keys.d/NAME, where every
/// update replaces and withdraws them whatever happened to the device's /etc. sshd is told by a
/// drop-in, or in the image's sshd_config itself where that includes none; files of keys that
/// it reads already stay.
void add_keys(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree);

/// Where a home directory really is on a device: "/home/x" → "/var/home/x", "/root" →
/// "/var/roothome"; other paths are returned as they are.
[[nodiscard]] std::string deployed_home(const std::string& home);

/// sshd_config(5) with `file` among those of AuthorizedKeysFile: added to the image's own line,
/// or in a new one before the first Match block.
[[nodiscard]] std::string with_authorized_keys(const std::string& config, const std::string& file);

}  // namespace edgegpu
