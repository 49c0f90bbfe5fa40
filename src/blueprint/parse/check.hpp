#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Checks everything about a parsed blueprint that needs no network: overlays and bundles exist,
/// policy modules are well-formed, keys are readable, … Adds the mistakes to `mistakes`; returns
/// warnings about what is accepted but may not be meant, each beginning "FILE:LINE:COLUMN: ".
[[nodiscard]] std::vector<std::string> check_blueprint(const Blueprint& blueprint,
                                                       Mistakes& mistakes);

}  // namespace edgegpu
