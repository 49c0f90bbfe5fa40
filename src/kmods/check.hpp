#pragma once

#include <string>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Removes what the link step of precompiled kernel modules and their packages leave behind and no
/// device needs: objects and detached signatures below /usr/lib64/nvidia, linker scripts in
/// /usr/share/nvidia-*, the linker /usr/bin/ld.gold.nvidia.*, sources in /usr/src/nvidia*.
/// Certificates stay.
void remove_module_leftovers(Tree& tree);

/// Checks that every kernel module of the driver is in the image, made for its kernel (vermagic as
/// the kernel's own modules have it) and of the driver's version, and that a signature at its end
/// is well-formed and, where the image has the signer's certificate, fits. Reports the signers.
/// Nothing happens without a driver (an empty version). Throws Error naming module, package and way
/// out.
void check_kernel_modules(const Context& ctx, const std::string& driver_version, const Tree& tree);

/// Checks, after depmod, that modules.dep lists these modules.
void check_module_index(const std::string& driver_version, const Tree& tree);

}  // namespace edgegpu
