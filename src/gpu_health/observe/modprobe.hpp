#pragma once

#include <string>
#include <vector>

#include "gpu_health/observe/observe.hpp"

namespace edgegpu::gpu_health {

/// What keeps `modprobe NAME` or udev from loading a module: each "FILE: blacklist NAME", "FILE:
/// install NAME /bin/false", or the kernel's argument. Files are read as modprobe.d(5) says: one of
/// /etc hides one of the same name in /run and /usr/lib.
[[nodiscard]] std::vector<std::string> what_blocks(const Places& places, const std::string& name);

}  // namespace edgegpu::gpu_health
