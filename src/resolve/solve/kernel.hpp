#pragma once

#include <string>
#include <vector>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Candidates for the image's kernel, best first: packages `<name>-core`, else those that provide
/// it, else `<name>` itself, from the repositories with the best priority. `glob`, if not empty,
/// must match the NEVRA of `<name>-core` or `<name>`. Throws ErrorKind::unsolvable if there is
/// none.
[[nodiscard]] std::vector<Id> kernel_candidates(const PackagePool& pool, const std::string& name,
                                                const std::string& glob);

/// Adds to `jobs`: install this kernel and the metapackage `name` of the same version; forbid other
/// kernels, and subpackages of the kernel in other versions.
void add_kernel_jobs(const PackagePool& pool, const std::string& name, Id kernel, Jobs& jobs);

/// Whether the package contains a kernel: it provides `kernel-uname-r`, or has the name of one of
/// RHEL's kernel packages.
[[nodiscard]] bool is_kernel(const PackagePool& pool, Id id);

/// Whether `glob` matches the NEVRA of a kernel package, or that of `name` for one of `name`-core.
[[nodiscard]] bool matches_kernel(const PackagePool& pool, Id id, const std::string& name,
                                  const std::string& glob);

/// `uname -r` of a kernel package: "version-release.arch" if it provides exactly that as
/// `kernel-uname-r`. Otherwise (variants, and kernels that do not follow RHEL's spec file, whose
/// uname an RPM version cannot always express) X of its `/usr/lib/modules/X` with the kernel image.
[[nodiscard]] std::string kernel_uname(const Context& ctx, PackagePool& pool, Id kernel);

}  // namespace edgegpu
