#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Checks, after depmod, that nothing in the image loads a blacklisted module: no alias of its own
/// or of modprobe.d(5) (as resolved by the image's modprobe in the sandbox), no `softdep` or
/// `install` line, no file of modules-load.d(5), no unit or udev rule, no kernel argument, no
/// dependency of a module that is not blacklisted (modules.dep); and that it is not built into the
/// kernel. Throws ErrorKind::usage naming module, file and line. Warns of modules in `[modprobe]`
/// that the image does not have.
void check_modprobe(const Context& ctx, const ModprobeRequest& request, const Tree& tree);

/// Throws ErrorKind::usage if a file of modprobe.d(5) or a kernel argument of the image keeps
/// devices from loading NVIDIA's driver, which the image has.
void check_driver_is_not_disabled(const Tree& tree);

/// Throws ErrorKind::usage if `paths`, those of an initramfs, have a blacklisted module.
void check_initramfs_modules(const ModprobeRequest& request, const std::vector<std::string>& paths);

}  // namespace edgegpu
