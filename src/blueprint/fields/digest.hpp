#pragma once

#include "blueprint/blueprint.hpp"
#include "support/digest.hpp"

namespace edgegpu {

/// Adds what of a blueprint decides the commit: every field that its description
/// (blueprint/fields/blueprint.hpp) calls an input, under its name, and the content of every file
/// it names. Where the builder keeps files does not count. `blueprint` is what `take_snapshot`
/// returned: its copies are what counts. Throws Error for a blueprint without copies.
void add_blueprint(Sha256& digest, const Blueprint& blueprint);

}  // namespace edgegpu
