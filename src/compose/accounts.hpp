#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compose/tree.hpp"
#include "compose/unite.hpp"

namespace edgegpu {

/// Name → number, from a passwd(5) or group(5) file (both have it in the third field). Malformed
/// lines are skipped; the first of several lines with one name wins, as in getpwnam(3).
[[nodiscard]] std::map<std::string, std::uint32_t, std::less<>> parse_numbers(
    std::string_view file);

/// Gives every path its owner by name, from /etc/passwd and /etc/group of the mounted root, in
/// `tree.entries` and below `tree.root` (setuid bits and capabilities are restored after the
/// change of owner). A name that does not exist becomes root without setuid bits, with a warning,
/// as with rpm. Returns the names that do not exist, instead of changing anything, if
/// `only_if_complete`.
std::vector<std::string> apply_owners(const Context& ctx, Tree& tree,
                                      const std::vector<NamedOwner>& owners, bool only_if_complete);

}  // namespace edgegpu
