#pragma once

#include <string>
#include <vector>

#include "blueprint/packages.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Requests for every package of the set, except for those that match the blueprint's own
/// `excludes`. Throws ErrorKind::unsolvable that names all packages of the set that no repository
/// has.
[[nodiscard]] std::vector<Install> package_set_installs(const PackagePool& pool,
                                                        const PackageSet& set,
                                                        const std::vector<std::string>& excludes);

/// The weak dependencies of the set alone, found by solving `set` and the kernel (a package name)
/// with and without them; those of other packages are not included. Empty if either solve fails:
/// solving the whole image reports why.
[[nodiscard]] std::vector<Install> recommended_by_set(const PackagePool& pool,
                                                      const std::vector<Install>& set,
                                                      const std::string& kernel);

}  // namespace edgegpu
