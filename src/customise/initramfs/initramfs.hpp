#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Runs depmod, then builds `/usr/lib/modules/K/initramfs.img` with the image's own dracut in the
/// sandbox, ostree module and modprobe files in it, reproducible; cached by the digest of what goes
/// in. A blacklisted module in it is an error. Needs tree.root. Thread-safe against `build_policy`
/// on the same tree: it returns the entry and touches nothing.
[[nodiscard]] Entry build_initramfs(const Context& ctx, const ModprobeRequest& modprobe,
                                    const Tree& tree);

}  // namespace edgegpu
