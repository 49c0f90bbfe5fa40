#pragma once

#include "blueprint/blueprint.hpp"
#include "support/files/digest.hpp"

namespace edgegpu {

/// Adds everything in a blueprint that determines the commit: each field that
/// blueprint/fields/blueprint.hpp describes as an input, under its name, and the content of every
/// file that it names, but not the location of files on the build machine. `blueprint` must come
/// from `take_snapshot`; throws Error if copies are missing.
void add_blueprint(Sha256& digest, const Blueprint& blueprint);

}  // namespace edgegpu
