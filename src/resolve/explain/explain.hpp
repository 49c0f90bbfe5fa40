#pragma once

#include "blueprint/blueprint.hpp"
#include "resolve/search/universe.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// The error for a blueprint that could not be solved: the cause in the user's terms, the chains of
/// packages from the blueprint's lines down, what exists but is filtered out, and as the hint up to
/// three changes of the blueprint, each of which was solved. With `proof` the solver's own
/// derivation too. The pool must still be filtered for `outcome`; afterwards it is not.
[[nodiscard]] Error explain(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                            const Outcome& outcome, bool proof);

}  // namespace edgegpu
