#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "resolve/resolution.hpp"
#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// A kernel newer than the chosen one.
struct PassedKernel {
    Id kernel = 0;
    std::string reason;
};

/// Describes the kernels `passed` (newest first), which are newer than `chosen`. Every security
/// advisory of the repositories for a newer version of the kernel (`<name>` or `<name>-core`) is
/// listed with the oldest of these kernels that fixes it. Missing or unreadable advisories are
/// reported on ctx.console.
[[nodiscard]] std::vector<PassedOver> describe_passed(const Context& ctx, const PackagePool& pool,
                                                      const std::string& name, Id chosen,
                                                      const std::vector<PassedKernel>& passed);

/// The security advisories of the repositories that name one of `packages` in exactly its version,
/// sorted by id; those of several repositories are merged. As in rpm-ostree, the reference for a
/// CVE is the first bug (by URL) with the CVE in its title, or else the advisory's own reference.
/// Missing or unreadable advisories only cause a warning on ctx.console.
[[nodiscard]] std::vector<FixedAdvisory> fixed_advisories(
    const Context& ctx, const PackagePool& pool, const std::vector<ResolvedPackage>& packages);

}  // namespace edgegpu
