#pragma once

#include <vector>

#include "blueprint/accounts.hpp"
#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"

namespace edgegpu {

struct ParentAccounts;

/// Adds the blueprint's groups, then its users, to passwd, group, shadow, gshadow, subuid and
/// subgid. No program of the image runs, so the result depends only on those files and `seeds`.
/// An account's number is the blueprint's, else that of `seeds` (seed_accounts), else the lowest
/// from 1000 up that neither the image nor `seeds` uses; the date of the last password change
/// stays empty. An existing user gets the blueprint's values; its uid and a group's gid cannot be
/// changed.
///
/// Then adds homes (user_homes.hpp), and the declarations from which upgraded devices
/// create their accounts (device_accounts.hpp).
///
/// Throws ErrorKind::usage with the blueprint's line for a number that is taken or differs from
/// the existing account's, a supplementary group or shell that the image does not have, or a
/// malformed name or field.
void add_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                  const std::vector<GroupRequest>& groups, const ParentAccounts& seeds, Tree& tree);

}  // namespace edgegpu
