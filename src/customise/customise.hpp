#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
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

/// Runs depmod, then builds `/usr/lib/modules/K/initramfs.img` with the image's own dracut in the
/// sandbox, ostree module and modprobe files in it, reproducible; cached by the digest of what goes
/// in. A blacklisted module in it is an error. Needs tree.root. Thread-safe against `build_policy`
/// on the same tree: it returns the entry and touches nothing.
[[nodiscard]] Entry build_initramfs(const Context& ctx, const ModprobeRequest& modprobe,
                                    const Tree& tree);

/// Puts the indexes of tree.kernel's modules into the tree, made by the image's depmod in the
/// sandbox; cached by the digest of the modules and depmod's configuration.
void run_depmod(const Context& ctx, Tree& tree);

}  // namespace edgegpu
