#pragma once

#include <string>
#include <vector>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Kernels the image could have, best first: packages `<name>-core`, or those that provide it, or
/// else `<name>` itself, of the repository that ranks highest. `glob`, if not empty, limits them to
/// those whose NEVRA (of `<name>-core` or of `<name>`) it matches. Throws ErrorKind::unsolvable if
/// there is none.
[[nodiscard]] std::vector<Id> kernel_candidates(const PackagePool& pool, const std::string& name,
                                                const std::string& glob);

/// Adds to `jobs`: exactly this kernel with the metapackage `name` of the same version, no
/// other kernel, and no part of this kernel in another version.
void add_kernel_jobs(const PackagePool& pool, const std::string& name, Id kernel, Jobs& jobs);

/// Whether the package holds a kernel: one that provides `kernel-uname-r`, or is a `-core` one.
[[nodiscard]] bool is_kernel(const PackagePool& pool, Id id);

/// `uname -r` of a kernel package. "version-release.arch" where it provides exactly that as
/// `kernel-uname-r`; otherwise (variants, kernels not made by RHEL's spec, whose uname an RPM
/// version cannot always express) the directory X of its `/usr/lib/modules/X` that holds its
/// kernel.
[[nodiscard]] std::string kernel_uname(const Context& ctx, PackagePool& pool, Id kernel);

}  // namespace edgegpu
