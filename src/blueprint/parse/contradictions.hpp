#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// What one part of a blueprint asks for and another one rules out, so that a build would succeed
/// and devices would not do it: MIG mode that gpu-health requires and the image switches otherwise;
/// units that are masked or disabled, and do what other keys ask for. Masked units of edgegpu's own
/// are warnings. Adds to `mistakes`, and to `warnings` what something on the device may still bring
/// about.
void check_contradictions(const Blueprint& blueprint, Mistakes& mistakes,
                          std::vector<std::string>& warnings);

}  // namespace edgegpu
