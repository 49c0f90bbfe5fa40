#pragma once

#include <string>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Removes files that are only needed to link precompiled kernel modules: objects and detached
/// signatures below /usr/lib64/nvidia and /usr/lib/nvidia, linker scripts in /usr/share/nvidia-*,
/// the linker /usr/bin/ld.gold.nvidia*, sources in /usr/src/nvidia*. Certificates stay.
void remove_module_leftovers(Tree& tree);

/// Checks that the image has every kernel module of the driver, that each is for the image's kernel
/// (with the vermagic of the kernel's own modules) and of the driver's version, that the image has
/// the symbols that it takes from others (`check_symbols`), and that an appended signature is
/// well-formed and, if the image has the signer's certificate, valid. Reports the signers. Does
/// nothing without a driver (an empty version). Throws Error naming module, package and remedy.
void check_kernel_modules(const Context& ctx, const std::string& driver_version, const Tree& tree);

/// Checks, after depmod, that modules.dep lists these modules; throws Error naming the module.
/// Warns of modules of the kernel in whose place devices load others of the same name.
void check_module_index(const Context& ctx, const std::string& driver_version, const Tree& tree);

}  // namespace edgegpu
