#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"

namespace edgegpu {

/// An initramfs, and the arguments of dracut with which a device makes one of its own.
struct Initramfs {
    Entry file;
    std::vector<std::string> arguments;
};

/// Builds the initramfs of `tree.kernel` with the image's own dracut in `tools` (boot_tools),
/// reproducibly, with dracut's ostree module; cached. Of an image that is a layer it has what the
/// parent's has: it is made with the arguments of that, and whatever is missing nevertheless is
/// added. Does not change the tree, so that `build_policy` may run at the same time. Needs the
/// indexes of `run_depmod`. Throws Error if dracut fails, or its result cannot boot, lacks the
/// blueprint's modprobe configuration or what the parent's has, or has a blacklisted module.
[[nodiscard]] Initramfs build_initramfs(const Context& ctx, const Blueprint& blueprint,
                                        const Tree& tree, ToolRoot& tools);

}  // namespace edgegpu
