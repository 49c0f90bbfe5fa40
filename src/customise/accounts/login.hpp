#pragma once

#include <cstdint>
#include <vector>

#include "blueprint/accounts.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage if none of the blueprint's users who have a password or key can log in
/// on a device: keys need an sshd that starts, accounts must not be locked, expired (at the time of
/// the image) or have a shell that refuses. Warns of single ones who cannot. To be called when
/// accounts and the states of units are complete. Blueprints without such users were judged when
/// they were checked (blueprint/parse/login_check.hpp).
void require_login(const Context& ctx, const std::vector<UserRequest>& users, LoginSource source,
                   const Tree& tree);

}  // namespace edgegpu
