#pragma once

#include <vector>

#include "cache/store.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Results of the scriptlets of a set of packages (the upper layer, the recorded calls, the kernel
/// arguments, and a digest of the whole tree), and the records of composition_key.hpp.
inline constexpr StoreKind kept_compositions{"composed", EntryKind::composed};

/// Restores the state after the scriptlets from the cache entry named by `tree.inputs_digest`:
/// fills `tree.upper`, which must not exist, and updates entries, calls and kernel arguments of
/// `tree`, which has the packages' files only. Returns false, with the tree unchanged, if there is
/// no entry or its tree differs from the recorded one (a power failure may have damaged it).
[[nodiscard]] bool restore_composition(const Context& ctx, Tree& tree);

/// Stores the results of the scriptlets under `tree.inputs_digest`, with the notes and warnings
/// about them.
void store_composition(const Context& ctx, const Tree& tree, const std::vector<Remark>& remarks);

}  // namespace edgegpu
