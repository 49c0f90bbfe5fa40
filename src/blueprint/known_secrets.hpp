#pragma once

#include "blueprint/blueprint.hpp"
#include "support/secrets.hpp"

namespace edgegpu {

/// Registers the secrets of a blueprint: passwords of repositories and proxies, credentials and
/// queries in URLs, password hashes of users.
void add_secrets(const Blueprint& blueprint, const Secrets& secrets);

}  // namespace edgegpu
