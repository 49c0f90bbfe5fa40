#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Looks at how an image mounts file systems: packages have mounts as well, which no check of the
/// blueprint sees. Throws ErrorKind::usage if a volume would be mounted as something that it is not
/// (`refused_mounts`). Warns of units with mount points that devices cannot have
/// (`misplaced_mounts`): one of a package may never be started.
void check_image_mounts(const Context& ctx, const Blueprint& blueprint, const Tree& tree);

}  // namespace edgegpu
