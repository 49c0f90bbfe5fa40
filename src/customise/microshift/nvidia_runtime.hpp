#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Where CRI-O and NVIDIA's container runtime are in the image: makes the latter CRI-O's default
/// runtime with /etc/crio/crio.conf.d/99-nvidia.conf, which sorts after MicroShift's
/// 10-microshift.conf, unless a file of CRI-O's configuration has a runtime `nvidia` already; and
/// puts crun, which is MicroShift's choice, first among the runtimes that NVIDIA's starts. The CDI
/// specification is generated on the device: warns if no unit does it, and of one in the image.
/// Throws ErrorKind::usage for a file of CRI-O's configuration that is not valid TOML, and if
/// 99-nvidia.conf exists without that runtime.
void add_nvidia_runtime(const Context& ctx, Tree& tree);

}  // namespace edgegpu
