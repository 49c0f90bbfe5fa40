#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "blueprint/toml/mistakes.hpp"

namespace edgegpu {

/// Whether somebody will be able to log in, as far as a blueprint says: with `[accounts] login =
/// "image"`, the default, a mistake if there is neither an account with a password or key nor
/// anything else that lets somebody in (login_ways.hpp); only a warning if there is a package that
/// adds users at the installation (cloud-init, FDO, Ignition, …). A package set is none: what a
/// kickstart file adds is for the blueprint to say. The built image is judged by
/// customise/accounts/login.hpp.
void check_login(const Blueprint& blueprint, Mistakes& mistakes,
                 std::vector<std::string>& warnings);

}  // namespace edgegpu
