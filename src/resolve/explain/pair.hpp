#pragma once

#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/search/universe.hpp"

namespace edgegpu {

/// The cause if none of `kernels` has a module of the driver that [nvidia] requests, with the
/// kernels and drivers that match.
[[nodiscard]] Cause unpaired_cause(const Universe& universe, const Blueprint& blueprint,
                                   const std::vector<Id>& kernels);

}  // namespace edgegpu
