#pragma once

#include <string>
#include <vector>

#include "blueprint/device.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Adds to tree.kernel_arguments, which has those of the packages, the blueprint's `arguments`
/// (`location` is for messages) and those of `[modprobe] blacklist` (`blacklist_arguments`).
/// Records all of them in /usr/lib/bootc/kargs.d/10-edgegpu.toml (bootc's kargs.d: a TOML array
/// `kargs`) and, one per line, in /usr/lib/edgegpu/kernel-arguments. Throws ErrorKind::usage for an
/// argument with control characters.
void record_kernel_arguments(const Context& ctx, const std::vector<std::string>& arguments,
                             const SourceLocation& location, const ModprobeRequest& modprobe,
                             Tree& tree);

/// Adds the unit that brings the arguments of upgraded devices in line with
/// /usr/lib/edgegpu/kernel-arguments (src/customise/device/kernel-arguments), if the image has
/// systemd.
void add_kernel_arguments_unit(const Context& ctx, Tree& tree);

}  // namespace edgegpu
