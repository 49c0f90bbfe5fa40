#pragma once

#include <string>
#include <vector>

#include "blueprint/device.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// `customizations.fips`: the kernel argument fips=1 (among `tree.kernel_arguments`), the system's
/// crypto policy FIPS, dracut's fips module in the initramfs, and on EL 8 /etc/system-fips. Where
/// /boot is a file system of its own, the device has to add `boot=`: a commit cannot know it.
/// Throws ErrorKind::usage if the image lacks the crypto policies or dracut's module, naming the
/// package, and if the blueprint's kernel arguments contain fips=0.
void set_fips(const Context& ctx, const FipsRequest& fips,
              const std::vector<std::string>& kernel_arguments, Tree& tree);

}  // namespace edgegpu
