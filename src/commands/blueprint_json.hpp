#pragma once

#include <nlohmann/json_fwd.hpp>

#include "blueprint/blueprint.hpp"

namespace edgegpu {

/// The values of a blueprint as they were understood, variables replaced and defaults filled in;
/// docs/schemas/check.json. Passwords and their hashes, keys, and the credentials of URLs are not
/// in it, and of texts of the user's only their sizes.
[[nodiscard]] nlohmann::ordered_json blueprint_json(const Blueprint& blueprint);

}  // namespace edgegpu
