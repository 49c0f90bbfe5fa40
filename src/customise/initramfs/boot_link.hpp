#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The program of dracut's module `edgegpu-boot-link` in an initramfs.
inline constexpr const char* boot_link_program = "/usr/libexec/edgegpu-boot-link";
/// The directory of that module in an image.
inline constexpr const char* boot_link_module = "/usr/lib/dracut/modules.d/97edgegpu-boot-link";

/// Adds the dracut module: a unit of the initramfs that mends the path of ostree= before
/// ostree-prepare-root, after a power cut during an upgrade (docs/reliability.md). Does nothing if
/// the image has no dracut.
void add_boot_link(const Context& ctx, Tree& tree);

}  // namespace edgegpu
