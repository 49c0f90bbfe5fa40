#pragma once

#include <string>
#include <vector>

#include "resolve/resolution.hpp"

namespace edgegpu {

/// What the image lacks to boot as an ostree device, each with the package that would bring it:
/// "dracut's ostree module (package ostree, or rpm-ostree)". Known by the names of packages, before
/// anything is downloaded; empty where all is there, and for a blueprint without distro, of which
/// nobody knows how its packages are called: the initramfs is looked at in any case.
[[nodiscard]] std::vector<std::string> missing_boot_parts(const Blueprint& blueprint,
                                                          const Resolution& resolution);

/// Throws ErrorKind::usage if something is missing.
void require_boot_parts(const Blueprint& blueprint, const Resolution& resolution);

}  // namespace edgegpu
