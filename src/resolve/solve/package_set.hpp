#pragma once

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Asks for every package of the blueprint's package set but those that its `excludes` leave out,
/// and, where the set wants weak dependencies, wishes for those of the set alone: what a solve of
/// set and kernel with weak dependencies brings beyond one without them. Throws
/// ErrorKind::unsolvable that names all packages of the set that no repository has.
void add_package_set(const Blueprint& blueprint, const PackagePool& pool, Jobs& jobs);

}  // namespace edgegpu
