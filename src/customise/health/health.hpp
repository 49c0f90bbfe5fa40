#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Puts gpu-health into the image, with its settings and what runs it at each boot: a required
/// check of greenboot, or, in an image without greenboot, units of ours and GRUB's counting of
/// boots. Nothing without `[health.gpu]`. `placed` are the user's own files, of which checks are
/// looked at.
///
/// Throws ErrorKind::usage, at the blueprint's line, for an image that could not go back to the
/// version before; warns of what keeps a verdict from being right.
void add_gpu_health(const Context& ctx, const Blueprint& blueprint, const PlacedPaths& placed,
                    Tree& tree);

}  // namespace edgegpu
