#pragma once

#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/search/universe.hpp"

namespace edgegpu {

/// The cause where `kernels` have no module of the driver that [nvidia] asks for: which kernels and
/// which drivers do fit each other.
[[nodiscard]] Cause unpaired_cause(const Universe& universe, const Blueprint& blueprint,
                                   const std::vector<Id>& kernels);

}  // namespace edgegpu
