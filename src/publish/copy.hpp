#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "commit/commit.hpp"
#include "commit/repository.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "repository/tree_objects.hpp"

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

/// Puts objects of another repository in the place of damaged or missing ones.
class ObjectReplacements {
public:
    /// The caller holds a SharedLock as long as this exists.
    ObjectReplacements(const RepositoryView& source, const Repo& target);
    ObjectReplacements(const ObjectReplacements&) = delete;
    ObjectReplacements& operator=(const ObjectReplacements&) = delete;
    ~ObjectReplacements();

    /// Copies the object from the source as it is stored there, verified and durable before it
    /// replaces, atomically, what has its name in the target. Thread-safe. Throws Error; the target
    /// is as it was then.
    void replace(const TreeObject& object) const;

private:
    const RepositoryView& source_;
    const Repo::Impl& target_;
    std::unique_ptr<Staging> staging_;
    mutable std::mutex mutex_;
};

/// Gives the commit, which `target` has, the detached metadata that it has in the source; what it
/// has in the target alone, signatures of any kind, it keeps. Returns whether that was something
/// new.
bool copy_detached_metadata(const CommitView& commit, const Repo& target);

}  // namespace edgegpu
