#pragma once

#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/explain/fixes_edit.hpp"
#include "resolve/search/universe.hpp"

namespace edgegpu {

/// A change of the blueprint that may make it solvable, as text edits and as the resulting value.
struct Fix {
    std::vector<Edit> edits;
    Blueprint changed;
    /// Summary of the solution, once it has been solved.
    std::string gives;
};

/// A failed solve, from which changes are derived.
struct Failed {
    const Universe& universe;
    const Blueprint& blueprint;
    const Outcome& outcome;
    const Cause& cause;
};

/// Changes worth trying, unverified; those that keep all requests first.
[[nodiscard]] std::vector<Fix> possible_fixes(const Failed& failed, BlueprintText& text);

/// The driver branches that the repositories have, in module streams or packages, hidden or not.
[[nodiscard]] std::set<unsigned> driver_branches(const Universe& universe);

/// Those that concern kernel, driver and container toolkit.
[[nodiscard]] std::vector<Fix> possible_gpu_fixes(const Failed& failed, BlueprintText& text);

/// Up to `most` changes that were verified to make the blueprint solvable; if no single change
/// does, up to three are combined. The pool stays filtered for the last one tried.
[[nodiscard]] std::vector<Fix> verified_fixes(const Context& ctx, Universe& universe,
                                              const Blueprint& blueprint, const Outcome& outcome,
                                              std::size_t most = 3);

/// The cause of a failed outcome; its message is empty if no solve failed (`outcome.failure` says
/// what is wrong then). The pool must still be filtered for the outcome's blueprint.
[[nodiscard]] Cause cause_of(const Universe& universe, const Blueprint& blueprint,
                             const Outcome& outcome);

}  // namespace edgegpu
