#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "commit/dirtree.hpp"
#include "commit/naming.hpp"
#include "commit/repository.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// A commit whose objects are staged, or in the repository already.
struct StagedCommit {
    const std::vector<NamedFile>& files;
    const DirectoryObjects& directories;
    /// of the commit object and of its detached metadata
    std::uint64_t commit_bytes = 0;
};

/// Throws Error if a device that has the parent would download more than `limit` bytes of objects,
/// as they are stored, for the new commit; with the largest of them. Throws Error, too, if objects
/// of the parent are missing.
void require_small_upgrade(const Context& ctx, const Repo::Impl& repo, const Parent& parent,
                           const StagedCommit& commit, const Staging& staging, std::uint64_t limit);

}  // namespace edgegpu
