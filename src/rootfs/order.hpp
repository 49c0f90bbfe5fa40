#pragma once

#include <cstddef>
#include <vector>

#include "rootfs/import.hpp"

namespace edgegpu {

/// The packages in the order in which rpm would install them (dependencies first, rpm's own
/// loop breaking), whatever order they came in.
[[nodiscard]] std::vector<ImportedPackage> order_packages(std::vector<ImportedPackage> packages);

}  // namespace edgegpu
