#pragma once

#include <optional>
#include <string>

#include "blueprint/packages.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// `[nvidia.mig]` as devices read it (src/customise/device/mig): a line for each PCI id of the
/// blueprint that has a layout, and one for "all", with the profiles of its instances and, for GPUs
/// of which that is known, where each begins: "10de:2335 3g.71gb:0 1g.18gb:4".
[[nodiscard]] std::string mig_layout_text(const NvidiaRequest& nvidia);

/// With `[nvidia.mig]`: adds the program that makes the instances at each boot, before whatever
/// uses a GPU, and the layout that it reads. Throws ErrorKind::usage if the image has no
/// nvidia-smi, which it calls. Without `[nvidia.mig]` the tree stays unchanged.
void add_mig_instances(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree);

}  // namespace edgegpu
