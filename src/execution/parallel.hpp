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

/// Runs two tasks at the same time, each with a context in which it is cancelled as soon as the
/// other one fails. Returns when both have ended; rethrows the exception of the one that failed
/// first.
void run_both(const Context& ctx, const std::function<void(const Context&)>& one,
              const std::function<void(const Context&)>& other);

}  // namespace edgegpu
