#pragma once

#include <vector>

#include "bundles/checks/findings.hpp"

namespace edgegpu {

/// Whether MicroShift begins to apply bundle `a` only after it is done with `b`, or has given it up
/// after ten minutes: the first bundle of a blueprint comes first, then the others in the order of
/// their names (`add_bundles`). `objects` are those of all bundles, in their order.
[[nodiscard]] bool is_applied_after(const std::vector<BundleObject>& objects,
                                    const RenderedBundle& a, const RenderedBundle& b);

}  // namespace edgegpu
