#pragma once

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Turns a deployed-style tree into what an ostree commit holds (facts of rpm-ostree's
/// compose, docs/architecture.md): /etc → /usr/etc, /boot dropped or carried to
/// /usr/lib/ostree-boot, /opt → /usr/lib/opt with tmpfiles, /var content → tmpfiles.d lines
/// (regular files as factory content with a `C` line, and reported), links for /home, /root, /srv,
/// /opt, /mnt, /media, /usr/local into /var, passwd and group split for nss-altfiles where the
/// image has it, empty /boot /dev /proc /run /sys /tmp /var /sysroot, /ostree → sysroot/ostree,
/// empty machine-id, leftovers deleted (ld.so aux-cache, random-seed, passwd-, __pycache__ no
/// package owns, …). Changes `tree.entries` only; tree.root is stale afterwards. Reports what
/// cannot be carried.
void finish_layout(const Context& ctx, Tree& tree);

}  // namespace edgegpu
