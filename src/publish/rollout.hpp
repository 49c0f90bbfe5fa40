#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commit/lock_wait.hpp"
#include "execution/context.hpp"
#include "execution/stage.hpp"
#include "publish/release.hpp"
#include "repository/commit_view.hpp"
#include "rollout/changes.hpp"
#include "rollout/plan.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// The plan of a ref, as a repository has it.
struct PublishedPlan {
    CommitView commit;
    RolloutPlan plan;
};

/// Reads it; nothing if the ref has none. Its signature is not verified. Throws Error for a commit
/// that has no plan of this ref, and ErrorKind::usage if there is no such ref.
[[nodiscard]] std::optional<PublishedPlan> read_plan(const RepositoryView& repository,
                                                     const std::string& ref);

/// The versions of a ref that the repository has as releases.
[[nodiscard]] std::vector<PlannedRelease> known_releases(const RepositoryView& repository,
                                                         const std::string& ref);

/// The commits to which some plan of the repository has a wave: they are to stay. A plan that
/// cannot be read is an Error, as what it needs is not known then.
[[nodiscard]] std::set<std::string> planned_commits(const RepositoryView& repository);

/// Throws ErrorKind::usage for the ref of a plan, of which only `rollout` writes commits.
void require_no_plan_ref(const std::string& ref);

/// What is changed where.
struct RolloutRequest {
    std::filesystem::path repository;
    /// the ref that devices follow
    std::string ref;
    /// makes the new plan of the one that there is
    std::function<ChangedPlan(const RepositoryView& repository,
                              const std::optional<RolloutPlan>& before)>
        change;
    /// how long devices believe the new plan, in seconds
    std::int64_t lifetime = 0;
    /// Unix time
    std::int64_t now = 0;
    /// checks everything, and writes nothing
    bool dry_run = false;
    /// for the repository
    LockWait lock_wait = {};
};

/// A plan that was changed, or one that would be.
struct ChangedRollout {
    std::optional<RolloutPlan> before;
    ChangedPlan changed;
    /// the ref of the plan
    PublishedRef ref;
};

/// Gives the devices of a ref another plan: writes a commit with it, signs it if `signer` signs
/// commits, and then does what finish_releases does. A client may read at any instant, and the call
/// be killed at any instant: the next one goes on.
///
/// Throws Error before anything is written for what devices would refuse: a commit that is not
/// whole, not bound to the ref or not signed; a plan that they could not verify; and for a plan
/// before that nobody has signed whom they trust, as nothing gets a signature that had none.
[[nodiscard]] ChangedRollout change_rollout(const Context& ctx, Stages& stages,
                                            const RolloutRequest& request, Signer& signer);

}  // namespace edgegpu
