#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Completes tree.kernel_arguments: the packages', the blueprint's, and what `[modprobe] blacklist`
/// needs early in the boot (`blacklist_arguments`). Records them in
/// /usr/lib/bootc/kargs.d/10-edgegpu.toml (the format of bootc's kargs.d: a TOML array `kargs`),
/// and, one a line, in /usr/lib/edgegpu/kernel-arguments; a unit of the image brings the arguments
/// of devices that arrive by upgrade in line with the latter
/// (src/customise/device/kernel-arguments).
void record_kernel_arguments(const Context& ctx, const Blueprint& blueprint, Tree& tree);

}  // namespace edgegpu
