#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// Differences between the lockfile and blueprint or repositories, one line each.
using Drift = std::vector<std::string>;

/// Throws ErrorKind::unsolvable with the lines.
[[noreturn]] void throw_drift(const Drift& drift);

/// The same, unless there are none.
void stop_at(const Drift& drift);

}  // namespace edgegpu
