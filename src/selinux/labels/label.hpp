#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Labels all entries from the tree's own file_contexts ("/usr/etc/x" is looked up as "/etc/x").
/// Runs after finish_layout. Entries for which the policy has no label ("<<none>>": mount points)
/// get that of their directory, with a note. Without a policy only warns. Throws Error if the
/// policy has no label for /.
void label_tree(const Context& ctx, Tree& tree);

}  // namespace edgegpu
