#pragma once

#include <vector>

#include "blueprint/accounts.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// ostree keeps an /etc/passwd that was changed on a device, as a whole: users of a newer image
/// never reach it. So the image declares the blueprint's users and groups below
/// /usr/lib/edgegpu/accounts too, and edgegpu-accounts.service makes at each boot, early, with the
/// device's own useradd, what its /etc lacks. What the device's operator changed or removed stays
/// so. Needs the tree's account files complete. Where the image has no shadow-utils or no
/// systemd, it is a warning, as its users then reach only devices that are installed afresh.
void declare_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                      const std::vector<GroupRequest>& groups, Tree& tree);

}  // namespace edgegpu
