#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/search/universe.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// The error for a blueprint that has no solution: the cause, the chains of dependencies beginning
/// with the blueprint's lines, packages that exist but are filtered out, and as hint up to three
/// changes of the blueprint, each verified by solving it. With `proof` also the solver's
/// derivation. The pool must still be filtered for `outcome`; afterwards it is filtered
/// differently.
[[nodiscard]] Error explain(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                            const Outcome& outcome, bool proof);

}  // namespace edgegpu
