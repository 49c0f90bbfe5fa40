#pragma once

#include <string>
#include <vector>

#include "blueprint/device.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Completes tree.kernel_arguments: the packages', the blueprint's `arguments` (with `location` for
/// messages), and what `[modprobe] blacklist` needs early in the boot (`blacklist_arguments`).
/// Records them in /usr/lib/bootc/kargs.d/10-edgegpu.toml (the format of bootc's kargs.d: a TOML
/// array `kargs`), and, one a line, in /usr/lib/edgegpu/kernel-arguments; a unit of the image
/// brings the arguments of devices that arrive by upgrade in line with the latter
/// (src/customise/device/kernel-arguments).
void record_kernel_arguments(const Context& ctx, const std::vector<std::string>& arguments,
                             const SourceLocation& location, const ModprobeRequest& modprobe,
                             Tree& tree);

}  // namespace edgegpu
