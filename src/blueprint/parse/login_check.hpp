#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Whether somebody will be able to log in, as far as a blueprint says: with `[accounts] login =
/// "image"`, the default, a mistake if neither an account with a password or key, nor a file, unit
/// or first boot script that may let somebody in, nor a package or package set by which users are
/// added at the installation (FDO, Ignition, cloud-init); a warning if there is only one of the
/// latter. The built image is judged by customise/accounts/login.hpp.
void check_login(const Blueprint& blueprint, Mistakes& mistakes,
                 std::vector<std::string>& warnings);

}  // namespace edgegpu
