#pragma once

#include <vector>

#include "doctor/finding.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Tries, each in a process of its own, what every build does on this machine: its user namespace
/// with the ids of an image, an overlay in the cache (`ctx.cache`), a program in the sandbox of an
/// image, and one in the sandbox for programs of the build machine. What a failed one is needed for
/// is not tried. With a failure come the `restrictions` of this machine.
[[nodiscard]] std::vector<Finding> try_sandboxes(const Context& ctx);

}  // namespace edgegpu
