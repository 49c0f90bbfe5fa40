#pragma once

#include <map>
#include <string>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// The jobs for the blueprint's packages, groups, module profiles and package set. As in dnf,
/// packages of a group that no repository has are skipped, with a note on the console. Throws
/// ErrorKind::unsolvable if requests match nothing: all of them, with their lines, and why the
/// package is hidden, which packages have a program of that name, or similar names.
[[nodiscard]] Jobs request_jobs(const Context& ctx, const Blueprint& blueprint,
                                const PackagePool& pool, const Comps& comps,
                                const ModuleSelection& modules);

/// Up to three visible packages with a program called `name`, as far as the repositories' primary
/// metadata and the file lists that are loaded tell: name of the package → path of the program.
[[nodiscard]] std::map<std::string, std::string> packages_with_program(const PackagePool& pool,
                                                                       const std::string& name);

}  // namespace edgegpu
