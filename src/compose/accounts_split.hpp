#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Writes /usr/lib/passwd and /usr/lib/group with the image's system accounts, which clients that
/// layer packages and the next build read. If the image has nss-altfiles, these accounts are
/// removed from /etc (ordinary users, root, wheel and groups with ordinary members stay) and
/// nsswitch.conf gets `altfiles`, so that a device with local users still sees new system accounts
/// after an update. Runs before /etc is moved to /usr/etc.
void split_accounts(const Context& ctx, Tree& tree);

}  // namespace edgegpu
