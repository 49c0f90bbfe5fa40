#pragma once

#include "repository/commit_view.hpp"
#include "rollout/plan.hpp"

namespace edgegpu {

/// A commit as a release, without index. Throws Error if it cannot be read.
[[nodiscard]] PlannedRelease release_of(const CommitView& commit);

}  // namespace edgegpu
