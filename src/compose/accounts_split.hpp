#pragma once

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Writes /usr/lib/passwd and /usr/lib/group with the image's system accounts: clients that layer
/// packages, and the next build, read them there. Where the image has nss-altfiles they also leave
/// /etc (ordinary users, root, wheel and groups with ordinary members stay) and nsswitch.conf
/// gets `altfiles`, so that a device with local users still sees new system accounts after an
/// update. Runs before /etc is moved to /usr/etc.
void split_accounts(const Context& ctx, Tree& tree);

}  // namespace edgegpu
