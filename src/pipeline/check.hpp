#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// What the stages of a build check before any image exists, and without network: GPUs against the
/// requested driver, keys of device repositories that are given as text, and the syntax of policy
/// modules (selinux::check_module_source). Adds all
/// errors to `mistakes`; returns what could not be checked, as warnings with their place.
[[nodiscard]] std::vector<std::string> check_without_image(const Context& ctx,
                                                           const Blueprint& blueprint,
                                                           Mistakes& mistakes);

}  // namespace edgegpu
