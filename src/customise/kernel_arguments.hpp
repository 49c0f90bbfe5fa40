#pragma once

#include "blueprint/blueprint.hpp"
#include "compose/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Completes tree.kernel_arguments: the packages', the blueprint's, and what `[modprobe] blacklist`
/// needs early in the boot (`blacklist_arguments`). Records them in
/// /usr/lib/bootc/kargs.d/10-edgegpu.toml (the format of bootc's kargs.d: a TOML array `kargs`).
void record_kernel_arguments(const Context& ctx, const Blueprint& blueprint, Tree& tree);

}  // namespace edgegpu
