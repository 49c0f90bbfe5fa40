#pragma once

#include <optional>

#include "blueprint/packages.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// With [nvidia]: what makes the GPU's device nodes usable on the device, whenever the driver binds
/// to one. A udev rule starts `edgegpu-gpu-devices.service`, which has nvidia-modprobe (where the
/// image has it) make the nodes that no kernel event announces, nvidia-uvm among them, and gives
/// all nodes their SELinux labels by tmpfiles.d(5); then the unit that writes the CDI
/// specification, the container toolkit's own nvidia-cdi-refresh.service or, where a toolkit has
/// none, one made here. Nothing is enabled for the boot as such: without a GPU no unit runs or
/// fails. Without [nvidia] the tree stays as it is.
void add_gpu_devices(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree);

}  // namespace edgegpu
