#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Adds the packages of the profiles that "@TEXT" asks for: the one named (a glob: all it matches),
/// or the default profiles of the stream, as modulemd-defaults have them. Packages of the module
/// come first; a profile may name others. False where `text` means no enabled module. Throws
/// ErrorKind::unsolvable, where dnf has an error too: no such profile, no default profile, a
/// package that no repository has.
[[nodiscard]] bool add_module_profiles(const PackagePool& pool, const ModuleSelection& modules,
                                       const std::string& text, const SourceLocation& location,
                                       Jobs& jobs);

}  // namespace edgegpu
