#pragma once

#include <string>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Solves for the temporary root in which kernel modules are compiled: `name`-devel of exactly
/// `kernel`, gcc, make, dkms, and elfutils-libelf-devel if a repository has it. Packages that
/// provide nvidia-kmod are excluded: of the sources only the payload is needed there. If a package
/// is in no repository, the result has a problem that says so.
[[nodiscard]] Solution solve_build_root(const PackagePool& pool, const std::string& name,
                                        Id kernel);

/// The packages that `solve_build_root` needs but which are only available filtered out: the best
/// one of each tool.
[[nodiscard]] std::vector<Id> hidden_build_tools(const PackagePool& pool, const std::string& name);

}  // namespace edgegpu
