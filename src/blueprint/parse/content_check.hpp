#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Checks the files that the image gets: whether it can carry them, secrets, modes, mounts, and
/// those that a cluster would replace. Adds to `mistakes` and `warnings`.
void check_content(const Blueprint& blueprint, Mistakes& mistakes,
                   std::vector<std::string>& warnings);

}  // namespace edgegpu
