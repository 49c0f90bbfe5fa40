#pragma once

#include "disk/injection.hpp"

namespace edgegpu {

/// What a deployment needs to grow its root file system to the size of the disk, once, at the first
/// boot: edgegpu-grow-root.service with its script, enabled.
[[nodiscard]] Injection grow_root_files();

}  // namespace edgegpu
