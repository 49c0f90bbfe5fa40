#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Adds the indexes of tree.kernel's modules (modules.dep, …) to the tree, made by the image's
/// depmod in the sandbox and cached by the digest of their inputs; and the kernel, if only /boot
/// has it. Throws Error if the tree has no kernel or no modules of it.
void run_depmod(const Context& ctx, Tree& tree);

}  // namespace edgegpu
