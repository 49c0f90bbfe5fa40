#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commit/commit.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/copy.hpp"
#include "publish/deltas.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// A ref that gets a commit.
struct Release {
    /// what it gets
    CommitView commit;
    /// holds the lock of the target's ref
    Repo target;
    /// what devices that follow the ref have; nothing for a new ref
    std::optional<CommitView> head;
    /// what the target has that deltas are to be made from
    std::vector<CommitView> delta_sources;
};

/// A ref that the target has now.
struct PublishedRef {
    std::string ref;
    CommitInfo commit;
    /// checksum of the commit that the target had, or empty
    std::string before;
    CopiedObjects copied;
    /// all that the target has to this commit, and those that were not worth it
    std::vector<PublishedDelta> deltas;
    bool is_signed = false;
    /// the target's ref, signatures, deltas and summary were so already
    bool unchanged = false;
};

/// Gives devices the commits of `releases`, all of one target, which has them with their
/// signatures: makes the deltas, sets the refs, and then the summary, which is signed if `signer`
/// signs commits. `published` has for each what was done before; where that is nothing, and nothing
/// is to be done here, nothing is written. A client may read at any instant, and the call be killed
/// at any instant: the next one goes on. The caller holds a SharedLock. Throws Error.
void finish_releases(const Context& ctx, Stages& stages, const std::vector<Release>& releases,
                     std::vector<PublishedRef>& published, std::uint64_t largest_compared,
                     Signer& signer);

}  // namespace edgegpu
