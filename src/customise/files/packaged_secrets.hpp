#pragma once

#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Throws Error for secrets of one machine or person that packages bring: logins at registries
/// where programs look for them, and tokens of NVIDIA's licence server wherever they are. The
/// user's own files (`placed`) are not looked at: they were while the blueprint was checked.
void refuse_packaged_secrets(const Context& ctx, const PlacedPaths& placed, const Tree& tree);

}  // namespace edgegpu
