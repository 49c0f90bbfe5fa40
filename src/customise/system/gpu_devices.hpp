#pragma once

#include <optional>

#include "blueprint/packages.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// With [nvidia]: adds what creates and labels the device nodes of a GPU whenever the driver binds
/// to it. A udev rule starts `edgegpu-gpu-devices.service`, which creates the nodes for which there
/// is no kernel event (nvidia-uvm and others) with nvidia-modprobe, if the image has it, and labels
/// all of them through tmpfiles.d(5); then the unit that writes the CDI specification:
/// nvidia-cdi-refresh.service of the container toolkit or, if it has none, one added here. No unit
/// is enabled at boot: without a GPU none runs or fails. Without [nvidia] the tree stays unchanged.
void add_gpu_devices(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree);

}  // namespace edgegpu
