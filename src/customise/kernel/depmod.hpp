#pragma once

#include <string_view>

#include "execution/context.hpp"
#include "image/tree.hpp"
#include "rootfs/tool_root.hpp"

namespace edgegpu {

/// Whether depmod writes the file `name` in a kernel's module directory (kmod's depmod.c); the
/// other modules.* files are shipped with the kernel.
[[nodiscard]] bool is_module_index(std::string_view name);

/// Copies the kernel from /boot to the directory of its modules, if only /boot has it: ostree
/// clients and generators of boot loaders expect it there. Throws Error if the tree has no kernel
/// or no modules of it.
void place_kernel(Tree& tree);

/// Adds the indexes of tree.kernel's modules (modules.dep, …) to the tree and to `tools`
/// (boot_tools), in which the image's depmod makes them; cached.
void run_depmod(const Context& ctx, Tree& tree, ToolRoot& tools);

}  // namespace edgegpu
