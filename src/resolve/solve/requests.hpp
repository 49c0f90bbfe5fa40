#pragma once

#include "blueprint/blueprint.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The jobs that follow from the blueprint's packages, groups and module profiles; a group's
/// packages that no repository has are noted on the console and left out, as dnf does. Throws
/// ErrorKind::unsolvable, with the nearest names and what hides the package, if nothing matches.
[[nodiscard]] Jobs request_jobs(const Context& ctx, const Blueprint& blueprint,
                                const PackagePool& pool, const Comps& comps,
                                const ModuleSelection& modules);

}  // namespace edgegpu
