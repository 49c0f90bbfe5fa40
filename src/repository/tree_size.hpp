#pragma once

#include <cstdint>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What a commit's tree may have: several times what any image has, but within the memory of a
/// machine. Directories that share objects make a tree of any number of paths with a few of them.
struct TreeLimits {
    std::uint64_t paths = 4U << 20U;
    /// of one path, in bytes: Linux's PATH_MAX
    std::uint64_t longest_path = 4095;
    /// of all paths together
    std::uint64_t path_bytes = 1ULL << 30U;
};

/// Throws Error if the tree exceeds a limit, or if a directory is in itself. Each directory object
/// is read once, however many paths it has: to be called before a walk that visits every path.
void require_walkable(const Context& ctx, const CommitView& commit, const TreeLimits& limits = {});

}  // namespace edgegpu
