#pragma once

#include <string>
#include <vector>

#include "compose/compose.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Under which name of `composed/` the cache has what scriptlets made.
///
/// Packages decide it, and the numbers that accounts of the image get: those that `seeds` gives to
/// accounts that the packages bring or make, and no others. Which accounts these are is known when
/// the scriptlets have run once. So two small records lie beside the results: the names of the
/// accounts of a set of packages, and which result was made with which seeds. A result is right
/// where it was made with the same seeds; or where the seeds give each of its accounts the number
/// that it has in it, because each step of an installation then makes what it made before. It is
/// not where a scriptlet made an account that is gone at the end: nobody knows its number.

/// The name of the result for these packages (`packages` is a digest of everything else that
/// decides it) and seeds, or "" where none was recorded.
[[nodiscard]] std::string find_composition(const Context& ctx, const std::string& packages,
                                           const ParentAccounts& seeds);

/// Names the result in `tree`, which scriptlets made with `seeds`, and records the name for
/// `find_composition`. `made` are the calls of useradd and groupadd (Shims::made_accounts).
[[nodiscard]] std::string name_composition(const Context& ctx, const std::string& packages,
                                           const ParentAccounts& seeds, const Tree& tree,
                                           const std::vector<std::vector<std::string>>& made);

}  // namespace edgegpu
