#pragma once

#include <cstddef>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// The packages in the order in which rpm would install them (dependencies first, loops broken by
/// rpm), independent of their order in `packages`. Throws Error if librpm refuses one.
[[nodiscard]] std::vector<ImportedPackage> order_packages(std::vector<ImportedPackage> packages);

}  // namespace edgegpu
