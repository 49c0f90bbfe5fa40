#pragma once

#include <vector>

#include "blueprint/accounts.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Declares the blueprint's users and groups below /usr/lib/edgegpu/accounts, and adds
/// edgegpu-accounts.service, which early at each boot creates those that the device's /etc lacks,
/// with the device's own useradd and groupadd. This is necessary because ostree keeps a modified
/// /etc/passwd as a whole, so that users of a newer image would never appear. What the device's
/// operator changed or removed stays so. The tree's account files must be complete. Only warns if
/// the image lacks a program that is needed: the users then exist on newly installed devices only.
void declare_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                      const std::vector<GroupRequest>& groups, Tree& tree);

}  // namespace edgegpu
