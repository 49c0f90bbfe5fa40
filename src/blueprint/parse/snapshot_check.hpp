#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Checks of a blueprint whose devices get their images as snapshots (UpdateSystem::snapshots): a
/// mistake for each table that says something to ostree devices alone, so that nothing is built
/// that would never take effect; a warning for kernel arguments, which the device keeps.
void check_snapshot_system(const Blueprint& blueprint, Mistakes& mistakes,
                           std::vector<std::string>& warnings);

}  // namespace edgegpu
