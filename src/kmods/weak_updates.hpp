#pragma once

#include <string_view>

#include "image/tree.hpp"

namespace edgegpu {

/// Links the modules that SUSE's kernel module packages (KMP) have for other versions of the kernel
/// (/usr/lib/modules/OTHER/updates and extra) into the weak-updates directory of the image's
/// kernel, as weak-modules2 of suse-module-tools does on a device: for kernels of the same flavour,
/// and where the kernel has no such module in updates or extra itself. Whether they fit is for
/// `check_kernel_modules` and the resolver (`ksym(…)`) to say. Throws Error if two kernels' modules
/// claim the same place.
void link_weak_updates(Tree& tree);

/// Whether a path of a kernel's modules is one of these links.
[[nodiscard]] bool is_weak_update(std::string_view path);

}  // namespace edgegpu
