#pragma once

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Puts the indexes of tree.kernel's modules into the tree, made by the image's depmod in the
/// sandbox; cached by the digest of the modules and depmod's configuration.
void run_depmod(const Context& ctx, Tree& tree);

}  // namespace edgegpu
