#pragma once

#include <string>
#include <vector>

#include "resolve/resolution.hpp"
#include "resolve/solve/pool.hpp"
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

/// The security advisories of the repositories that name one of `packages` in exactly that version,
/// sorted by id; what several repositories say of one is united. References are those that
/// rpm-ostree takes: by URL, what bugs with a CVE in their title say, the first for each CVE; a CVE
/// without such a bug has the advisory's own reference to it. They inform and no more: where a
/// repository's advisories cannot be had or read, a warning on ctx.console says so.
[[nodiscard]] std::vector<FixedAdvisory> fixed_advisories(
    const Context& ctx, const PackagePool& pool, const std::vector<ResolvedPackage>& packages);

}  // namespace edgegpu
