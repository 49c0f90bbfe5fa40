#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Checks everything about a parsed blueprint that needs no network: overlays and bundles exist,
/// policy modules are well-formed, keys are readable, … Throws ErrorKind::usage with all mistakes,
/// as parse_blueprint does.
void check_blueprint(const Blueprint& blueprint);

/// The same, but adds the mistakes to `mistakes`.
void find_mistakes(const Blueprint& blueprint, Mistakes& mistakes);

}  // namespace edgegpu
