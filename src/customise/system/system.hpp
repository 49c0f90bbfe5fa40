#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Writes hostname, timezone (checked against the image's zoneinfo), NTP servers (into chrony's own
/// configuration), locale and console keymap.
void set_identity(const Context& ctx, const Blueprint& blueprint, Tree& tree);

/// Where `[ostree] url` is set: /etc/ostree/remotes.d/REMOTE.conf, and the public key below
/// /etc/pki/edgegpu. Without a key the remote is not verified; the user is warned.
void add_remote(const Context& ctx, const OstreeRequest& ostree, Tree& tree);

}  // namespace edgegpu
