#pragma once

#include <vector>

#include "rollout/plan.hpp"

namespace edgegpu {

/// Makes the edges of a plan anew, and what is barred, from its releases: to each commit with a
/// wave from the older releases back to the last barrier before it, that barrier included. There is
/// none where rpm-ostree, MicroShift or another architecture refuses the jump, and one that is
/// barred for some GPUs where the driver of the newer commit does not drive them. Which driver
/// drives what is known to edgegpu (gpu/gpus.hpp). To aborted commits all are barred.
void connect(RolloutPlan& plan);

/// The releases older than the newest wave's from which nothing leads on.
[[nodiscard]] std::vector<const PlannedRelease*> stranded(const RolloutPlan& plan);

}  // namespace edgegpu
