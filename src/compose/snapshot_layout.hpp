#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Translates the tree to what `transactional-update apply-oci` (6.1.3, lib/Snapshot/Podman.cpp)
/// copies into a snapshot: /etc, /usr and /usr/etc as packages have them, the package database in
/// /usr/lib/sysimage/rpm, /boot with a link to the kernel and without initramfs images, which the
/// device makes, content of /var as tmpfiles.d lines (var_to_tmpfiles.hpp), the
/// accounts of packages as lines of sysusers.d, empty mount points and machine-id. What is in
/// /home, /mnt, /media, /opt, /root, /srv and /usr/local, subvolumes of the device that are not
/// written to, is left out with a warning. Changes `tree.entries` only; clears tree.root. Throws
/// Error for paths that an image cannot contain.
void finish_snapshot_layout(const Context& ctx, Tree& tree);

}  // namespace edgegpu
