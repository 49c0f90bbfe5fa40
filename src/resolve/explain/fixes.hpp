#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/explain/fixes_edit.hpp"
#include "resolve/search/universe.hpp"

namespace edgegpu {

/// A change of the blueprint that may make it solvable: the text and the value it leads to.
struct Fix {
    std::vector<Edit> edits;
    Blueprint changed;
    /// what the changed blueprint gives, once it was solved
    std::string gives;
};

/// What there is to derive changes from.
struct Failed {
    const Universe& universe;
    const Blueprint& blueprint;
    const Outcome& outcome;
    const Cause& cause;
};

/// Changes worth trying, the one that keeps most of what was asked for first; none was tried yet.
[[nodiscard]] std::vector<Fix> possible_fixes(const Failed& failed, BlueprintText& text);

/// The part of these that is about kernel, driver and container toolkit.
[[nodiscard]] std::vector<Fix> possible_gpu_fixes(const Failed& failed, BlueprintText& text);

/// Up to `most` changes that were solved and do make the blueprint solvable; if one change uncovers
/// the next problem, changes are combined. The pool stays filtered for the last one tried.
[[nodiscard]] std::vector<Fix> verified_fixes(const Context& ctx, Universe& universe,
                                              const Blueprint& blueprint, const Outcome& outcome,
                                              std::size_t most = 3);

/// The cause of a failed outcome; empty message where the failure was no matter of packages (it
/// says itself then what is wrong). The pool must still be filtered for the outcome's blueprint.
[[nodiscard]] Cause cause_of(const Universe& universe, const Blueprint& blueprint,
                             const Outcome& outcome);

}  // namespace edgegpu
