#pragma once

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Labels every entry from the tree's own final file_contexts ("/usr/etc/x" looked up as "/etc/x").
/// Runs after finish_layout. What the policy gives no label ("<<none>>": mount points) gets that of
/// its directory, with a note; a policy without a label for / is an Error.
void label_tree(const Context& ctx, Tree& tree);

}  // namespace edgegpu
