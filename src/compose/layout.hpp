#pragma once

#include <string>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Translates the tree to the layout of an ostree commit, like rpm-ostree's compose (table in
/// docs/architecture.md): /etc → /usr/etc, /boot → /usr/lib/ostree-boot without kernels, /opt →
/// /usr/lib/opt, /var content → tmpfiles.d lines (regular files as factory content with a `C` line,
/// with a warning), links for /home, /root, /srv, /opt, /mnt, /usr/local into /var and for /media
/// into /run, passwd and group split for nss-altfiles if the image has it, empty /boot /dev /proc
/// /run /sys /tmp /var /sysroot, /ostree → sysroot/ostree, empty machine-id. Nothing is left out
/// without a warning, except kernels in /boot and what is in /dev. Changes `tree.entries` only;
/// clears tree.root. Throws Error for paths that a commit cannot contain.
void finish_layout(const Context& ctx, Tree& tree);

/// Adds directories on which devices mount file systems, absolute paths outside of /usr, to a tree
/// with the layout of a commit: there the root directory is read-only.
void add_mount_points(const std::vector<std::string>& points, Tree& tree);

}  // namespace edgegpu
