#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Checks after depmod that no blacklisted module is loaded on a device by itself: no alias, its
/// own or one of modprobe.d(5), leads to it (asked of the image's own modprobe, in the sandbox), no
/// `softdep` or `install` line does, no file of modules-load.d(5), unit or udev
/// rule names it, no kernel argument, no module that is not blacklisted needs it (modules.dep), and
/// it is not built into the kernel. Throws ErrorKind::usage naming module, file and line.
/// Modules of `[modprobe]` that the image does not have are warned of.
void check_modprobe(const Context& ctx, const ModprobeRequest& request, const Tree& tree);

/// Throws ErrorKind::usage if an initramfs with these paths holds a blacklisted module.
void check_initramfs_modules(const ModprobeRequest& request, const std::vector<std::string>& paths);

}  // namespace edgegpu
