#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/deltas.hpp"
#include "publish/release.hpp"
#include "repository/commit_view.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// What is published where.
struct PublishRequest {
    /// of the repository that devices pull from; created if it is absent
    std::filesystem::path target;
    /// at least one, of the source
    std::vector<std::string> refs;
    DeltaRequest deltas;
    LockWait lock_wait = {};
};

/// Publishes refs of `source` for devices that pull over HTTP: copies what the target lacks of
/// their commits, makes the deltas that are asked for, then sets the refs, and then the summary,
/// which is signed if `signer` signs commits. A client may read at any instant, and the call be
/// killed at any instant: the next one goes on.
///
/// Throws Error before anything is copied for what devices would refuse: a commit that is bound
/// to other refs, or is older than the one that they have, or that has no signature by a key of the
/// image that they run (of its own, for a new ref); a summary without signature where there was one
/// with it.
[[nodiscard]] std::vector<PublishedRef> publish(const Context& ctx, Stages& stages,
                                                const RepositoryView& source,
                                                const PublishRequest& request, Signer& signer);

}  // namespace edgegpu
