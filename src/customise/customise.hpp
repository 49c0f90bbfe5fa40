#pragma once

#include <map>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/tree.hpp"
#include "oci/blobs.hpp"

namespace edgegpu {

struct ParentAccounts;

/// Applies the blueprint's configuration to the tree, in this order: groups, users, overlays,
/// directories and files, bundles, MicroShift's configuration, modprobe, GPU devices, CRI-O's
/// runtime, hostname, timezone, locale, repositories, subscription, container images and store,
/// certificates, firewall, FIPS, first boot scripts, units, kernel arguments, ostree remote.
/// `manifests` are the bundles' files, path → content; `seeds` has the numbers of accounts
/// (seed_accounts). Throws ErrorKind::usage with the
/// blueprint's line if the tree makes a request impossible (unknown unit, path that belongs to a
/// package, …).
void customise(const Context& ctx, const Blueprint& blueprint,
               const std::vector<StoredImage>& images,
               const std::map<std::string, std::string>& manifests, const ParentAccounts& seeds,
               Tree& tree);

}  // namespace edgegpu
