#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"

namespace edgegpu {

/// Builds the initramfs of `tree.kernel` with the image's own dracut in `tools` (boot_tools),
/// reproducibly, with dracut's ostree module; cached. Returns its entry and does not change the
/// tree, so that `build_policy` may run at the same time. Needs the indexes of `run_depmod`. Throws
/// Error if dracut fails, or its result cannot boot, lacks the blueprint's modprobe configuration
/// or has a blacklisted module.
[[nodiscard]] Entry build_initramfs(const Context& ctx, const Blueprint& blueprint,
                                    const Tree& tree, ToolRoot& tools);

}  // namespace edgegpu
