#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// The jobs for the blueprint's packages, groups, module profiles and package set. As in dnf,
/// packages of a group that no repository has are skipped, with a note on the console. Throws
/// ErrorKind::unsolvable if a request matches nothing, with similar names or why the package is
/// hidden.
[[nodiscard]] Jobs request_jobs(const Context& ctx, const Blueprint& blueprint,
                                const PackagePool& pool, const Comps& comps,
                                const ModuleSelection& modules);

}  // namespace edgegpu
