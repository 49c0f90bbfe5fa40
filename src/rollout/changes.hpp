#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rollout/plan.hpp"

namespace edgegpu {

/// Changes of plans: values of what there was, and of a time. Each gives the plan that devices are
/// to have from then on, whose serial and expiry are still those of the old one (renew).

/// A rollout that begins.
struct WaveRequest {
    /// checksum of the commit that devices get
    std::string commit;
    RolloutWave wave;
    std::string reason;
    /// see PlannedRelease
    std::optional<std::string> barrier;
};

/// What a change has done besides, for whoever asked for it.
struct ChangedPlan {
    RolloutPlan plan;
    /// nothing changes: the plan is so already
    bool unchanged = false;
    /// checksum of the commit to which a wave begins, or empty
    std::string target;
    /// what is to be told, as sentences without a full stop
    std::vector<std::string> remarks;
};

/// Begins a wave. `known` are the releases of the ref that the repository has; those that only
/// `plan`, the plan before, has stay. Of earlier waves those stay that lead to barriers, and the
/// newest one that everybody has had: who comes late gets that one until the new one reaches them.
///
/// Throws ErrorKind::usage for a commit that is not among them, for one that is older than what
/// everybody gets already, and if nobody could get it although there are older releases.
[[nodiscard]] ChangedPlan start_wave(const std::optional<RolloutPlan>& plan, const std::string& ref,
                                     std::vector<PlannedRelease> known, const WaveRequest& request,
                                     std::int64_t now);

/// Stops the newest wave: who has had their turn keeps it, and nobody else has one. Throws
/// ErrorKind::usage if there is none, or everybody has had theirs.
[[nodiscard]] ChangedPlan pause_wave(const RolloutPlan& plan, const std::string& reason,
                                     std::int64_t now);

/// Goes on with a wave that was stopped, at the share that it had, for the time that was left.
/// Throws ErrorKind::usage if there is none.
[[nodiscard]] ChangedPlan resume_wave(const RolloutPlan& plan, std::int64_t now);

/// Takes a wave and the edges to its commit out: that of `commit` (checksum), or if it is empty the
/// newest. Throws ErrorKind::usage if there is none; for the newest one also if everybody has had
/// their turn, so that a second abort does not hit an older wave.
[[nodiscard]] ChangedPlan abort_wave(const RolloutPlan& plan, const std::string& commit,
                                     const std::string& reason, std::int64_t now);

/// Gives a plan the serial and the end that it has when it is written: the serial is `now`, or one
/// after `last` (0: there is none).
void renew(RolloutPlan& plan, std::int64_t last, std::int64_t now, std::int64_t lifetime);

}  // namespace edgegpu
