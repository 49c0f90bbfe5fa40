#pragma once

#include <string>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Solves for the throw-away root in which kernel modules are compiled: kernel-devel (of `name`,
/// "kernel") of exactly `kernel`, and with it gcc, make, dkms, and elfutils-libelf-devel where a
/// repository has it. The packages of kernel module sources and the driver's user space are kept
/// out: only the sources' payload is needed there. Where a package is in no repository, that is the
/// problem returned.
[[nodiscard]] Solution solve_build_root(const PackagePool& pool, const std::string& name,
                                        Id kernel);

/// What `solve_build_root` needs but only has filtered out: the best package of each such tool.
[[nodiscard]] std::vector<Id> hidden_build_tools(const PackagePool& pool, const std::string& name);

}  // namespace edgegpu
