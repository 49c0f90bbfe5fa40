#pragma once

#include "blueprint/blueprint.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

struct ParentAccounts;

/// Applies the blueprint's own configuration to the tree, in this order: groups, users,
/// overlays, directories and files, bundles, modprobe, hostname, timezone, locale, repositories,
/// image store, certificates, firewall, FIPS, first boot scripts, services, kernel arguments
/// (recorded in /usr/lib/bootc/kargs.d), ostree remote. `seeds` are numbers of accounts
/// (seed_accounts). Throws ErrorKind::usage naming
/// the blueprint's line where the tree makes a request impossible (unknown unit, path that belongs
/// to a package, …).
void customise(const Context& ctx, const Blueprint& blueprint, const ParentAccounts& seeds,
               Tree& tree);

}  // namespace edgegpu
