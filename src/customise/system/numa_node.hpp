#pragma once

#include <optional>
#include <string>

#include "blueprint/packages.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The udev rule of `[nvidia] numa_node`: it writes the node to NVIDIA's GPUs (PCI class 03) of
/// which the firmware says none (-1), if the node is online. The kernel has a directory in sysfs
/// for online nodes alone, refuses to write others, and is tainted by the writing (drivers/pci/
/// pci-sysfs.c, numa_node_store).
[[nodiscard]] std::string numa_node_rule(unsigned node);

/// With `[nvidia] numa_node`: adds that rule. It is applied before udev loads the driver, which
/// takes its memory from the node. Otherwise the tree stays unchanged.
void add_numa_node(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree);

}  // namespace edgegpu
