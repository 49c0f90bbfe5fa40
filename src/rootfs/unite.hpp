#pragma once

#include <string>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// A path whose owner is not root:root; the numbers are known only after the %pre scriptlets.
struct NamedOwner {
    std::string path;
    std::string user;
    std::string group;
    /// the package that says so, for messages
    std::string package;
};

/// What all packages together unpack to.
struct United {
    Entries entries;
    /// in installation order; the last one for a path wins
    std::vector<NamedOwner> owners;
};

/// Unites the packages' files as rpm would install them in this order: ghosts are not made,
/// paths through links of the image (/bin → usr/bin) land at the link's end, missing parents are
/// root:root 0755. Throws Error naming both packages where two of them ship a path differently.
[[nodiscard]] United unite(const std::vector<ImportedPackage>& packages);

}  // namespace edgegpu
