#pragma once

#include "blueprint/blueprint.hpp"
#include "support/secrets.hpp"

namespace edgegpu {

/// Tells `secrets` what is secret in a blueprint: passwords of repositories and proxies, user and
/// password and queries of URLs, password hashes of users.
void add_secrets(const Blueprint& blueprint, const Secrets& secrets);

}  // namespace edgegpu
