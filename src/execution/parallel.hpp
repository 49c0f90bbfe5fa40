#pragma once

#include <cstddef>
#include <functional>

#include "execution/context.hpp"

namespace edgegpu {

/// Calls `work(i)` for each i in [0, count) on ctx.jobs threads, lower i first. The first
/// exception (that of the lowest i that threw) is rethrown here after all threads stopped; no new i
/// is started after a failure or a cancellation.
void parallel_for(const Context& ctx, std::size_t count,
                  const std::function<void(std::size_t)>& work);

}  // namespace edgegpu
