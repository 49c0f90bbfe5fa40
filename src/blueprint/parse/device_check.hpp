#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// What `[customizations]` asks of devices, as far as a blueprint alone shows that they would not
/// do it: a file of `files` that another key writes, too, or in a directory that no device has; a
/// hash of a password that the distribution's libxcrypt does not know. An account that has expired
/// `now` is a warning.
void check_device(const Blueprint& blueprint, std::time_t now, Mistakes& mistakes,
                  std::vector<std::string>& warnings);

}  // namespace edgegpu
