#pragma once

#include <string>
#include <vector>

#include "compose/compose.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

// Names of the cached results of scriptlets, in `composed/` of the cache.
//
// A result depends on the packages and on the numbers that `seeds` has for accounts that the
// packages contain or create, but not on other accounts. Which accounts these are is known once the
// scriptlets have run. So there are two kinds of small records beside the results: the names of the
// accounts of a set of packages, and the name of the result of given seeds. A result can be used if
// it was made with the same seeds; or if the seeds have, for each of its accounts, the number in
// the result, because each step of the installation then does the same as before. The latter does
// not hold if a scriptlet created an account that is gone at the end, as its number is unknown.

/// The name of the result for these packages (`packages` is a digest of everything else that it
/// depends on) and seeds, or "" if none was recorded.
[[nodiscard]] std::string find_composition(const Context& ctx, const std::string& packages,
                                           const ParentAccounts& seeds);

/// The name for the result in `tree`, which was made with `seeds`; records it for
/// `find_composition`. `made` are the calls of useradd and groupadd (Shims::made_accounts).
[[nodiscard]] std::string name_composition(const Context& ctx, const std::string& packages,
                                           const ParentAccounts& seeds, const Tree& tree,
                                           const std::vector<std::vector<std::string>>& made);

}  // namespace edgegpu
