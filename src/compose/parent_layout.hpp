#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Gives the files of a commit the paths that packages and scriptlets know, so that `finish_layout`
/// gives the same commit again: /etc, /opt, the directories that are links into /var, whole account
/// files, the alternatives, and in /var what tmpfiles.d makes there at boot. What is in
/// /usr/lib/ostree-boot stays there; an initramfs is left out, as the image gets one of its own.
/// Only entries: the tree has no root yet.
void undo_layout(const Context& ctx, Tree& tree);

}  // namespace edgegpu
