#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Where the blueprint's modprobe.d(5) configuration lies in the image.
inline constexpr const char* modprobe_path = "/etc/modprobe.d/edgegpu.conf";

/// Writes `[modprobe]`: `blacklist` and `options` lines, and a dracut configuration that takes
/// them into the initramfs and leaves blacklisted drivers out of it; without that, a blacklisted
/// driver would still be loaded before the root is there. Throws ErrorKind::usage for a malformed
/// module name or options of more than one line.
void add_modprobe(const Context& ctx, const Blueprint& blueprint, Tree& tree);

}  // namespace edgegpu
