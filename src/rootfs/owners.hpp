#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "rootfs/unite.hpp"

namespace edgegpu {

/// Gives every path its owner by name, from /etc/passwd and /etc/group of the mounted root, in
/// `tree.entries` and below `tree.root` (setuid bits and capabilities are restored after the
/// change of owner). A name that does not exist becomes root without setuid bits, with a warning,
/// as with rpm. Returns the names that do not exist, instead of changing anything, if
/// `only_if_complete`.
std::vector<std::string> apply_owners(const Context& ctx, Tree& tree,
                                      const std::vector<NamedOwner>& owners, bool only_if_complete);

}  // namespace edgegpu
