#pragma once

#include <vector>

#include "blueprint/accounts.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

struct ParentAccounts;

/// Adds the blueprint's groups, then its users, to passwd, group, shadow, gshadow, subuid and
/// subgid. No program of the image runs, so that the result depends on nothing but those files:
/// numbers are those given, else those of `seeds` (seed_accounts), else the lowest from 1000 up
/// that neither the image nor `seeds` uses; the date of the last password change stays empty. A
/// user or group that exists already is changed as the blueprint says.
///
/// Then homes, keys (user_homes.hpp), and the declarations from which devices with a history make
/// their accounts (device_accounts.hpp).
///
/// Throws ErrorKind::usage with the blueprint's line for a number that is taken, a supplementary
/// group or shell that the image does not have, or a malformed name.
void add_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                  const std::vector<GroupRequest>& groups, const ParentAccounts& seeds, Tree& tree);

}  // namespace edgegpu
