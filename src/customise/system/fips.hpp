#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// `customizations.fips`: the kernel argument fips=1 (among `tree.kernel_arguments`), the system's
/// crypto policy FIPS, dracut's fips module in the initramfs, and on EL 8 /etc/system-fips. Where
/// /boot is a file system of its own, `boot=` is the device's to add: a commit cannot know it.
/// Throws ErrorKind::usage where the image lacks the crypto policies or dracut's module, naming the
/// package, and where the blueprint's kernel arguments say fips=0.
void set_fips(const Context& ctx, const Blueprint& blueprint, Tree& tree);

}  // namespace edgegpu
