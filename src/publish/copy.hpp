#pragma once

#include <cstdint>

#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What a repository got.
struct CopiedObjects {
    std::uint64_t count = 0;
    /// as they are stored, compressed
    std::uint64_t bytes = 0;
};

/// Copies what `target` lacks of a commit of `source`, an archive repository, as it is stored
/// there; each copy is read back and compared with its checksum. Contents come first, directories
/// behind what is in them, and the commit last, each step durable before the next: whatever
/// interrupts it, another call goes on where this one ended. Nothing is looked at if the target's
/// ref has the commit. The caller holds a SharedLock until the ref is set. Throws Error, for a
/// damaged source with the path in the commit.
[[nodiscard]] CopiedObjects copy_commit(const Context& ctx, const RepositoryView& source,
                                        const CommitView& commit, const Repo& target);

/// Gives the commit, which `target` has, the detached metadata that it has in the source; what it
/// has in the target alone, signatures of any kind, it keeps. Returns whether that was something
/// new.
bool copy_detached_metadata(const CommitView& commit, const Repo& target);

}  // namespace edgegpu
