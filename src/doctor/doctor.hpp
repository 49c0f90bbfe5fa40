#pragma once

#include <vector>

#include "doctor/finding.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Tries what builds, images and tests need of this machine: sandboxes, the cache (`ctx.cache`),
/// programs. Throws only if interrupted, or if a process cannot be started.
[[nodiscard]] std::vector<Finding> examine_machine(const Context& ctx);

}  // namespace edgegpu
