#pragma once

#include <vector>

#include "image/tree.hpp"
#include "support/context.hpp"
#include "support/store.hpp"

namespace edgegpu {

/// What the scriptlets of a set of packages made: the upper layer, the recorded calls, the kernel
/// arguments, and a seal over the whole tree.
inline constexpr StoreKind kept_compositions{"composed", 2, EntryKind::composed};

/// Fills `tree.upper` (which must not exist) and brings entries, calls and kernel arguments up to
/// where the scriptlets left them. `tree` is what the packages alone make, its `inputs_digest`
/// names the composition. False, and everything as it was, where none is kept or it does not make
/// the tree it once made (a machine that lost power may leave it damaged).
[[nodiscard]] bool restore_composition(const Context& ctx, Tree& tree);

/// Keeps a composition and what its scriptlets gave reason to say.
void store_composition(const Context& ctx, const Tree& tree, const std::vector<Remark>& remarks);

}  // namespace edgegpu
