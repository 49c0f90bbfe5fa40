#pragma once

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Checks everything about a parsed blueprint that needs no network: overlay and bundle
/// directories exist, module sources exist, keys are readable, … Throws ErrorKind::usage with
/// every mistake, as parse_blueprint does.
void check_blueprint(const Blueprint& blueprint);

/// What check_blueprint does, the mistakes going to `mistakes`.
void find_mistakes(const Blueprint& blueprint, Mistakes& mistakes);

}  // namespace edgegpu
