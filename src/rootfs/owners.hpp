#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/unite.hpp"

namespace edgegpu {

/// Sets the owners of packaged paths in `tree.entries` and below `tree.root`, with the numbers in
/// /etc/passwd and /etc/group of the mounted root. Files of an unknown owner belong to root and
/// lose set-id bits, with a warning, as with rpm. Returns the unknown names ("user x", "group y");
/// if there are any and `only_if_complete` is set, changes nothing.
std::vector<std::string> apply_owners(const Context& ctx, Tree& tree,
                                      const std::vector<NamedOwner>& owners, bool only_if_complete);

}  // namespace edgegpu
