#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Adds the packages of the profiles that "@TEXT" requests: all that match the profile or glob, or
/// the default profiles of the stream (modulemd-defaults). Packages of the module are preferred to
/// others. False if `text` matches no enabled module. Throws ErrorKind::unsolvable, as dnf does, if
/// there is no such profile, no default profile, or no repository has a package.
[[nodiscard]] bool add_module_profiles(const PackagePool& pool, const ModuleSelection& modules,
                                       const std::string& text, const SourceLocation& location,
                                       Jobs& jobs);

}  // namespace edgegpu
