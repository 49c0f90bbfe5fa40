#include "rollout/changes.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rollout/edges.hpp"
#include "rollout/turns.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// With their edges they fit into a plan that devices read.
constexpr std::size_t most_releases = 300;

/// The releases of both, by age: the newest, and those that lead on to them.
std::vector<PlannedRelease> merge(std::vector<PlannedRelease> known,
                                  const std::optional<RolloutPlan>& plan) {
    std::vector<PlannedRelease> releases = plan ? plan->releases : std::vector<PlannedRelease>();
    for (PlannedRelease& release : known) {
        const auto found = std::ranges::find(releases, release.commit, &PlannedRelease::commit);
        if (found == releases.end()) {
            releases.push_back(std::move(release));
        } else {
            found->version = std::move(release.version);
            found->facts = std::move(release.facts);
        }
    }
    std::ranges::sort(releases, [](const PlannedRelease& one, const PlannedRelease& other) {
        return std::tie(one.facts.time, one.commit) < std::tie(other.facts.time, other.commit);
    });
    std::size_t surplus = releases.size() - std::min(releases.size(), most_releases);
    std::erase_if(releases, [&](const PlannedRelease& release) {
        const bool forgotten = surplus > 0 && !release.wave;
        surplus -= forgotten ? 1 : 0;
        return forgotten;
    });
    for (std::size_t i = 0; i < releases.size(); ++i) {
        releases[i].index = static_cast<std::int64_t>(i);
    }
    return releases;
}

/// The newest wave, for what is done with one that goes on.
PlannedRelease& open_wave(RolloutPlan& plan, std::int64_t now, std::string_view what) {
    const PlannedRelease* newest = newest_wave(plan);
    if (newest == nullptr) {
        throw error(ErrorKind::usage, "{}: there is no rollout to {}", plan.ref, what)
            .hinted("edgegpu rollout start begins one");
    }
    if (!newest->paused && is_complete(*newest->wave, now)) {
        throw error(ErrorKind::usage,
                    "{}: there is no rollout to {}: all devices have had their "
                    "turn to get {}",
                    plan.ref, what, release_text(*newest))
            .hinted(fmt::format("edgegpu rollout abort {} --commit {} keeps those from it that "
                                "have not asked since",
                                plan.ref, newest->commit.substr(0, 10)));
    }
    return *plan.find(newest->commit);
}

/// Takes earlier waves out, for a new one to `target`.
void supersede(RolloutPlan& plan, const PlannedRelease& target, std::int64_t now,
               std::vector<std::string>& remarks) {
    const PlannedRelease* last = nullptr;
    for (const PlannedRelease& release : plan.releases) {
        if (release.wave && release.commit != target.commit && !release.barrier &&
            !release.paused && is_complete(*release.wave, now)) {
            last = &release;
        }
    }
    for (PlannedRelease& release : plan.releases) {
        if (!release.wave || release.commit == target.commit || release.barrier) {
            continue;
        }
        if (!release.paused && is_complete(*release.wave, now)) {
            if (&release == last) {
                continue;
            }
        } else {
            remarks.push_back(fmt::format(
                "the rollout of {}, which {} of the devices have had their turn to get, ends",
                release_text(release), percent_text(share_at(*release.wave, now))));
        }
        release.wave.reset();
        release.paused.reset();
    }
}

void require_newest(const RolloutPlan& plan, const PlannedRelease& target, std::int64_t now) {
    for (const PlannedRelease& release : plan.releases) {
        if (release.index > target.index && release.wave &&
            (release.barrier || (!release.paused && is_complete(*release.wave, now)))) {
            throw error(ErrorKind::usage,
                        "{}: {} is older than {}, which all devices get: they "
                        "would refuse it as a downgrade",
                        plan.ref, release_text(target), release_text(release))
                .hinted(fmt::format("promote it anew, and roll out what that makes: edgegpu "
                                    "promote {} --to {}",
                                    target.commit.substr(0, 10), plan.ref));
        }
    }
}

/// Throws Error if nobody gets the commit although there are older ones.
void require_way(const RolloutPlan& plan, const PlannedRelease& target,
                 std::vector<std::string>& remarks) {
    const bool reached =
        std::ranges::find(plan.edges, target.commit, &PlanEdge::to) != plan.edges.end();
    std::vector<std::string> reasons;
    for (const BarredJump& jump : plan.barred) {
        // Of newer ones, that is as it should be.
        if (jump.to == target.commit && plan.find(jump.from)->index < target.index) {
            reasons.push_back(
                fmt::format("from {}: {}", release_text(*plan.find(jump.from)), jump.reason));
        }
    }
    if (!reached && !reasons.empty()) {
        Error failure =
            error(ErrorKind::usage, "{}: no device could get {}", plan.ref, release_text(target));
        for (const std::string& reason : reasons) {
            failure.traced(reason);
        }
        throw failure.hinted("roll out a release in between first, with --barrier");
    }
    for (const PlannedRelease* release : stranded(plan)) {
        const auto jump = std::ranges::find_if(plan.barred, [&](const BarredJump& barred) {
            return barred.from == release->commit && barred.to == target.commit;
        });
        remarks.push_back(fmt::format("devices with {} get nothing{}", release_text(*release),
                                      jump == plan.barred.end() ? "" : ": " + jump->reason));
    }
    if (!reached && reasons.empty()) {
        remarks.push_back(
            fmt::format("there is no older release than {}: nobody gets it, and "
                        "devices that have it wait for the next one",
                        release_text(target)));
    }
}

}  // namespace

ChangedPlan start_wave(const std::optional<RolloutPlan>& plan, const std::string& ref,
                       std::vector<PlannedRelease> known, const WaveRequest& request,
                       std::int64_t now) {
    ChangedPlan changed;
    if (plan) {
        const PlannedRelease* old = plan->find(request.commit);
        const PlannedRelease* newest = newest_wave(*plan);
        if (old != nullptr && old == newest && !old->paused && old->barrier == request.barrier &&
            old->wave->share == request.wave.share &&
            old->wave->duration == request.wave.duration && old->reason == request.reason &&
            (old->wave->start == request.wave.start ||
             (old->wave->start <= now && request.wave.start <= now))) {
            changed.plan = *plan;
            changed.unchanged = true;
            return changed;
        }
        changed.plan = *plan;
    }
    changed.plan.ref = ref;
    changed.plan.releases = merge(std::move(known), plan);
    PlannedRelease* target = changed.plan.find(request.commit);
    if (target == nullptr) {
        throw error(ErrorKind::usage, "commit {} is no release of {}", request.commit, ref)
            .hinted("promote it to that ref: edgegpu promote");
    }
    require_newest(changed.plan, *target, now);
    supersede(changed.plan, *target, now, changed.remarks);
    if (target->wave) {
        changed.remarks.push_back(
            fmt::format("{} of the devices have had their turn to get it already",
                        percent_text(share_at(*target->wave, now))));
    }
    changed.target = request.commit;
    target->wave = request.wave;
    target->paused.reset();
    target->aborted.reset();
    target->barrier = request.barrier;
    target->reason = request.reason;
    connect(changed.plan);
    require_way(changed.plan, *target, changed.remarks);
    return changed;
}

ChangedPlan pause_wave(const RolloutPlan& plan, const std::string& reason, std::int64_t now) {
    ChangedPlan changed{plan, false, "", {}};
    PlannedRelease& release = open_wave(changed.plan, now, "pause");
    if (release.paused) {
        changed.unchanged = true;
        return changed;
    }
    release.paused = PausedWave{*release.wave, now, reason};
    release.wave = RolloutWave{now, share_at(*release.wave, now), 0};
    return changed;
}

ChangedPlan resume_wave(const RolloutPlan& plan, std::int64_t now) {
    ChangedPlan changed{plan, false, "", {}};
    PlannedRelease& release = open_wave(changed.plan, now, "resume");
    if (!release.paused) {
        changed.unchanged = true;
        return changed;
    }
    const PausedWave paused = *std::exchange(release.paused, std::nullopt);
    const RolloutWave& wave = paused.wave;
    if (paused.at < wave.start) {
        release.wave = RolloutWave{std::max(now, wave.start), wave.share, wave.duration};
    } else {
        // Never more than was left: the clock may have gone back between the two.
        const std::int64_t passed = std::min(paused.at - wave.start, wave.duration);
        release.wave = RolloutWave{now, release.wave->share, wave.duration - passed};
    }
    return changed;
}

ChangedPlan abort_wave(const RolloutPlan& plan, const std::string& commit,
                       const std::string& reason, std::int64_t now) {
    ChangedPlan changed{plan, false, "", {}};
    PlannedRelease* release =
        commit.empty() ? &open_wave(changed.plan, now, "abort") : changed.plan.find(commit);
    if (release == nullptr || !release->wave) {
        throw error(ErrorKind::usage, "{}: there is no rollout of {} to abort", plan.ref, commit)
            .hinted(fmt::format("edgegpu rollout status {} shows what is rolled out", plan.ref));
    }
    const std::int64_t had = share_at(*release->wave, now);
    release->wave.reset();
    release->paused.reset();
    release->barrier.reset();
    release->aborted = reason;
    connect(changed.plan);
    if (had > 0) {
        changed.remarks.push_back(fmt::format(
            "{} of the devices have had their turn, and keep {} until another one is rolled out",
            percent_text(had), release_text(*release)));
    }
    return changed;
}

void renew(RolloutPlan& plan, std::int64_t last, std::int64_t now, std::int64_t lifetime) {
    plan.serial = std::max(now, last + 1);
    plan.expires = plan.serial + lifetime;
}

}  // namespace edgegpu
