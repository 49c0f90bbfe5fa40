#pragma once

#include <map>
#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "kmods/module_file.hpp"

namespace edgegpu {

/// Checks that the image has all symbols that the modules (path → module) take from others, of the
/// same type: the kernel would refuse to load them. The kernel's are in its file of symbols
/// (`/usr/lib/modules/KERNEL/symvers.gz` or .xz, which kernel-core brings: Module.symvers of the
/// kernel's Documentation/kbuild/modules.rst), others in the modules outside of `kernel/`. Says so
/// if the kernel brings no such file. Throws Error naming module, symbol, `package` and remedy.
void check_symbols(const Context& ctx, const Tree& tree,
                   const std::map<std::string, ModuleInfo>& modules, const std::string& package);

}  // namespace edgegpu
