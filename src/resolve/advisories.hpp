#pragma once

#include <string>
#include <vector>

#include "resolve/pool.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A kernel newer than the one that was taken.
struct PassedKernel {
    Id kernel = 0;
    std::string reason;
};

/// What leaving out `passed` (newest first) in favour of `chosen` costs: every security advisory
/// of the repositories that brings the kernel (`<name>` or `<name>-core`) to a version newer than
/// `chosen` is listed with the oldest passed kernel that has it. Advisories that are not in the
/// cache while offline, or cannot be had or read, are said to be unknown on ctx.console.
[[nodiscard]] std::vector<PassedOver> describe_passed(const Context& ctx, const PackagePool& pool,
                                                      const std::string& name, Id chosen,
                                                      const std::vector<PassedKernel>& passed);

}  // namespace edgegpu
