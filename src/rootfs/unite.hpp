#pragma once

#include <string>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/import.hpp"

namespace edgegpu {

/// A path whose owner is not root:root. Its numbers are known only after the %pre scriptlets.
struct NamedOwner {
    std::string path;
    std::string user;
    std::string group;
    /// NEVRA, for messages
    std::string package;
};

/// The files of all packages.
struct United {
    Entries entries;
    /// in installation order; the last one for a path wins
    std::vector<NamedOwner> owners;
};

/// Unites the packages' files as rpm would install them in this order: without %ghost files, paths
/// through links of the image (/bin → usr/bin) resolved, missing parents root:root 0755. Throws
/// Error naming both packages if two contain a path that differs. They are added to the entries of
/// `parent`, none of which changes: throws for a package that has another file there.
[[nodiscard]] United unite(const std::vector<ImportedPackage>& packages,
                           const Entries& parent = {});

}  // namespace edgegpu
