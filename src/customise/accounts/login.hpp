#pragma once

#include <cstdint>
#include <vector>

#include "blueprint/accounts.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage if none of the blueprint's users who have a password or key can log in
/// on a device: keys need an sshd that starts, accounts must not be locked, expired (at the time of
/// the image) or have a shell that refuses; and where files of the blueprint (`placed`) are part of
/// sshd's configuration, sshd of the image has to let them in with their keys. Warns of single ones
/// who cannot. To be called when accounts and the states of units are complete. Blueprints without
/// such users were judged when they were checked (blueprint/parse/login_check.hpp).
void require_login(const Context& ctx, const std::vector<UserRequest>& users, LoginSource source,
                   const PlacedPaths& placed, const Tree& tree);

}  // namespace edgegpu
