#pragma once

#include <vector>

#include "doctor/finding.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// The programs of this machine that builds, images and tests run, looked for where they look for
/// them, and whether QEMU can use KVM, which takes up to ten seconds.
[[nodiscard]] std::vector<Finding> find_programs(const Context& ctx);

}  // namespace edgegpu
