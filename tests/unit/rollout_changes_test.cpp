#include "rollout/changes.hpp"

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rollout/edges.hpp"
#include "rollout/turns.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"

namespace edgegpu::rollout_changes_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr std::int64_t now = 1'764'330'000;
constexpr std::int64_t hour = 3600;
constexpr std::int64_t day = 24 * hour;

std::string commit(int number) {
    return sha256_hex(fmt::format("commit {}", number));
}

PlannedRelease release(int number, const std::string& microshift = "",
                       const std::string& driver = "") {
    PlannedRelease made;
    made.commit = commit(number);
    made.version = fmt::format("9.{}", number);
    made.facts = {now - 100 * day + number * day, "x86_64", microshift, driver};
    return made;
}

std::vector<PlannedRelease> releases(int count) {
    std::vector<PlannedRelease> list;
    list.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        list.push_back(release(i));
    }
    std::ranges::reverse(list);
    return list;
}

WaveRequest wave(int number, std::int64_t share = 50'000, std::int64_t duration = 48 * hour,
                 std::int64_t start = now) {
    return {commit(number), {start, share, duration}, "", {}};
}

RolloutPlan started(int count, const WaveRequest& request, std::int64_t time = now) {
    return start_wave({}, "edge", releases(count), request, time).plan;
}

/// The edges as pairs of the releases' numbers.
std::vector<std::pair<int, int>> edges(const RolloutPlan& plan) {
    std::vector<std::pair<int, int>> pairs;
    for (const PlanEdge& edge : plan.edges) {
        pairs.emplace_back(std::stoi(plan.find(edge.from)->version.substr(2)),
                           std::stoi(plan.find(edge.to)->version.substr(2)));
    }
    return pairs;
}

std::string message_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage);
        EXPECT_FALSE(failure.hint().empty()) << failure.message();
        std::string text = failure.message();
        for (const std::string& trace : failure.traces()) {
            text += "\n" + trace;
        }
        return text;
    }
    return "";
}

TEST(RolloutChanges, AStartLeadsFromAllOlderReleases) {
    const RolloutPlan plan = started(4, wave(3));
    EXPECT_THAT(edges(plan), ElementsAre(Pair(0, 3), Pair(1, 3), Pair(2, 3)));
    EXPECT_EQ(plan.find(commit(3))->wave, (RolloutWave{now, 50'000, 48 * hour}));
    EXPECT_EQ(plan.releases.front().commit, commit(0));
    EXPECT_THAT(plan.barred, IsEmpty());
}

TEST(RolloutChanges, ANewerReleaseIsBarredFromAnOlderOne) {
    const RolloutPlan plan = started(4, wave(2));
    EXPECT_THAT(edges(plan), ElementsAre(Pair(0, 2), Pair(1, 2)));
    ASSERT_EQ(plan.barred.size(), 1U);
    EXPECT_EQ(plan.barred[0].from, commit(3));
    EXPECT_THAT(plan.barred[0].reason, HasSubstr("is older than what runs"));
}

TEST(RolloutChanges, ANewStartEndsAnOpenOneAndKeepsTheCompleteOne) {
    const RolloutPlan first = started(2, wave(1));
    // Complete when the second begins; the second is open when the third does.
    const RolloutPlan second =
        start_wave(first, "edge", releases(3), wave(2, 0, hour, now + 60 * hour), now + 60 * hour)
            .plan;
    EXPECT_THAT(edges(second), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2)));
    const std::int64_t time = now + 60 * hour + hour / 2;
    const ChangedPlan third = start_wave(second, "edge", releases(4), wave(3, 0, hour, time), time);
    EXPECT_THAT(edges(third.plan), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 3), Pair(2, 3)));
    ASSERT_EQ(third.remarks.size(), 1U);
    EXPECT_THAT(third.remarks[0], HasSubstr("9.2"));
    EXPECT_THAT(third.remarks[0], HasSubstr("50 %"));
    // Who comes late gets the complete one until the new one reaches it.
    const std::int64_t position = position_of("f", commit(3));
    ASSERT_GT(position, 0);
    const DeviceDecision decision = decide(
        [&] {
            RolloutPlan plan = third.plan;
            renew(plan, 0, time, day);
            return plan;
        }(),
        {"f", commit(0), {}}, time);
    EXPECT_EQ(decision.target, commit(1));
}

TEST(RolloutChanges, BarriersChain) {
    WaveRequest barrier = wave(2, whole_share, 0);
    barrier.barrier = "new keys";
    const RolloutPlan first = started(3, barrier);
    EXPECT_THAT(edges(first), ElementsAre(Pair(0, 2), Pair(1, 2)));
    const RolloutPlan second =
        start_wave(first, "edge", releases(5), wave(4, 0, 1), now + hour).plan;
    EXPECT_THAT(edges(second), ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 4), Pair(3, 4)));
    const RolloutPlan third =
        start_wave(second, "edge", releases(6), wave(5, 0, 1), now + 2 * hour).plan;
    EXPECT_THAT(edges(third), ElementsAre(Pair(0, 2), Pair(1, 2), Pair(2, 4), Pair(3, 4),
                                          Pair(2, 5), Pair(3, 5), Pair(4, 5)));
}

TEST(RolloutChanges, ABarrierThatIsNotCompleteStays) {
    WaveRequest barrier = wave(1, 0, 100 * hour);
    barrier.barrier = "new keys";
    const RolloutPlan first = started(2, barrier);
    const ChangedPlan second = start_wave(first, "edge", releases(3), wave(2, 0, 1), now + hour);
    EXPECT_THAT(edges(second.plan), ElementsAre(Pair(0, 1), Pair(1, 2)));
    EXPECT_THAT(second.remarks, IsEmpty());
}

TEST(RolloutChanges, WhatMicroshiftRefusesIsBarred) {
    std::vector<PlannedRelease> known{release(0, "4.14"), release(1, "4.16"), release(2, "4.18")};
    const ChangedPlan changed = start_wave({}, "edge", known, wave(2), now);
    EXPECT_THAT(edges(changed.plan), ElementsAre(Pair(1, 2)));
    ASSERT_EQ(changed.plan.barred.size(), 1U);
    EXPECT_THAT(changed.plan.barred[0].reason,
                HasSubstr("MicroShift 4.18 refuses to start with data of 4.14"));
    ASSERT_EQ(changed.remarks.size(), 1U);
    EXPECT_THAT(changed.remarks[0], HasSubstr("devices with 9.0"));
    EXPECT_THAT(changed.remarks[0], HasSubstr("get nothing: MicroShift 4.18"));
    // A downgrade of MicroShift in a newer image.
    known.push_back(release(3, "4.17"));
    EXPECT_THAT(start_wave({}, "edge", known, wave(3), now).plan.barred.back().reason,
                HasSubstr("MicroShift 4.17 refuses to start with the newer data of 4.18"));
    // A barrier in between is the way.
    WaveRequest barrier = wave(1, whole_share, 0);
    barrier.barrier = "MicroShift 4.16";
    known.pop_back();
    const RolloutPlan way = start_wave({}, "edge", known, barrier, now).plan;
    EXPECT_THAT(edges(start_wave(way, "edge", known, wave(2), now + 1).plan),
                ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST(RolloutChanges, WhereEverythingIsBarredNothingBegins) {
    const std::vector<PlannedRelease> known{release(0, "4.12"), release(1, "4.13"),
                                            release(2, "4.18")};
    const std::string message =
        message_of([&] { static_cast<void>(start_wave({}, "edge", known, wave(2), now)); });
    EXPECT_THAT(message, HasSubstr("edge: no device could get 9.2"));
    EXPECT_THAT(message, HasSubstr("from 9.0"));
    EXPECT_THAT(message, HasSubstr("from 9.1"));
}

TEST(RolloutChanges, AnotherArchitectureIsBarred) {
    std::vector<PlannedRelease> known{release(0), release(1), release(2)};
    known[0].facts.architecture = "aarch64";
    const RolloutPlan plan = start_wave({}, "edge", known, wave(2), now).plan;
    EXPECT_THAT(edges(plan), ElementsAre(Pair(1, 2)));
    EXPECT_THAT(plan.barred[0].reason, HasSubstr("is for x86_64, not for aarch64"));
}

TEST(RolloutChanges, GpusThatTheNewDriverDoesNotDriveAreBarred) {
    const std::vector<PlannedRelease> known{release(0, "", "580.65.06"), release(1, "", "590.44"),
                                            release(2, "", "590.48.01")};
    const RolloutPlan plan = start_wave({}, "edge", known, wave(2), now).plan;
    ASSERT_EQ(plan.edges.size(), 2U);
    // V100 (Volta), which branch 580 is the last one for; not A30 (Ampere).
    ASSERT_EQ(plan.edges[0].lost.size(), 1U);
    EXPECT_THAT(plan.edges[0].lost[0].ids, testing::Contains("1db4"));
    EXPECT_THAT(plan.edges[0].lost[0].ids, testing::Not(testing::Contains("20b7")));
    EXPECT_THAT(plan.edges[0].lost[0].reason, HasSubstr("driver 590.48.01 does not drive it"));
    EXPECT_THAT(plan.edges[1].lost, IsEmpty());
    EXPECT_EQ(parse_plan(plan_text(plan), "x").edges, plan.edges);
}

TEST(RolloutChanges, AnImageThatLosesTheDriverIsBarred) {
    const std::vector<PlannedRelease> known{release(0), release(1, "", "580.65"), release(2)};
    const RolloutPlan plan = start_wave({}, "edge", known, wave(2), now).plan;
    EXPECT_THAT(edges(plan), ElementsAre(Pair(0, 2)));
    EXPECT_THAT(plan.barred[0].reason, HasSubstr("has no NVIDIA driver; 9.1 has 580.65"));
}

TEST(RolloutChanges, WhatHasBeenPrunedStaysARelease) {
    const RolloutPlan first = started(3, wave(2, whole_share, 0));
    std::vector<PlannedRelease> known{release(2), release(3)};
    const RolloutPlan second = start_wave(first, "edge", known, wave(3), now + hour).plan;
    EXPECT_THAT(edges(second),
                ElementsAre(Pair(0, 2), Pair(1, 2), Pair(0, 3), Pair(1, 3), Pair(2, 3)));
}

TEST(RolloutChanges, TheSameStartAgainChangesNothing) {
    const RolloutPlan first = started(3, wave(2));
    EXPECT_TRUE(start_wave(first, "edge", releases(3), wave(2, 50'000, 48 * hour, now + 9), now + 9)
                    .unchanged);
    const ChangedPlan faster =
        start_wave(first, "edge", releases(3), wave(2, whole_share, 0, now + hour), now + hour);
    EXPECT_FALSE(faster.unchanged);
    EXPECT_EQ(faster.plan.find(commit(2))->wave, (RolloutWave{now + hour, whole_share, 0}));
    EXPECT_THAT(faster.remarks, ElementsAre(HasSubstr("6.979 % of the devices")));
}

TEST(RolloutChanges, NothingGoesBackBehindWhatAllGet) {
    const RolloutPlan first = started(3, wave(2, whole_share, 0));
    EXPECT_THAT(message_of([&] {
                    static_cast<void>(start_wave(first, "edge", releases(3), wave(1), now + 1));
                }),
                HasSubstr("they would refuse it as a downgrade"));
    EXPECT_THAT(message_of([&] {
                    static_cast<void>(start_wave(first, "edge", releases(3), wave(7), now + 1));
                }),
                HasSubstr("is no release of edge"));
}

TEST(RolloutChanges, APauseKeepsTheShareAndAResumeTheRest) {
    for (const std::int64_t stop : {0L, 1L, hour, 7 * hour + 13, 47 * hour, 48 * hour - 1}) {
        const RolloutPlan running = started(2, wave(1));
        const RolloutWave before = *running.find(commit(1))->wave;
        const std::int64_t at = now + stop;
        const RolloutPlan paused = pause_wave(running, "smoke", at).plan;
        const RolloutWave stopped = *paused.find(commit(1))->wave;
        EXPECT_EQ(stopped, (RolloutWave{at, share_at(before, at), 0}));
        EXPECT_EQ(share_at(stopped, at + 1000 * day), share_at(before, at));
        EXPECT_EQ(edges(paused), edges(running));
        const std::int64_t later = at + 5 * day;
        const RolloutPlan resumed = resume_wave(paused, later).plan;
        const RolloutWave rest = *resumed.find(commit(1))->wave;
        EXPECT_EQ(rest.duration, before.duration - stop);
        for (std::int64_t i = 0; i <= 48 * hour - stop; i += 977) {
            EXPECT_NEAR(static_cast<double>(share_at(rest, later + i)),
                        static_cast<double>(share_at(before, at + i)), 1.01)
                << stop << ' ' << i;
        }
        EXPECT_EQ(resumed.find(commit(1))->paused, std::nullopt);
    }
}

TEST(RolloutChanges, ManyPausesLoseNoShareAndNoTime) {
    RolloutPlan plan = started(2, wave(1));
    std::int64_t time = now;
    std::int64_t share = 50'000;
    for (int i = 0; i < 100; ++i) {
        time += 1000;
        plan = pause_wave(plan, "", time).plan;
        const std::int64_t reached = plan.find(commit(1))->wave->share;
        EXPECT_GE(reached, share);
        share = reached;
        time += 10'000;
        plan = resume_wave(plan, time).plan;
    }
    const RolloutWave rest = *plan.find(commit(1))->wave;
    EXPECT_EQ(rest.duration, 48 * hour - 100'000);
    // Each pause rounds down by at most one millionth.
    EXPECT_NEAR(static_cast<double>(share), 50'000 + 950'000.0 * 100'000 / (48 * hour), 101);
    EXPECT_EQ(share_at(rest, rest.start + rest.duration), whole_share);
}

TEST(RolloutChanges, APauseBeforeTheStartKeepsThePlan) {
    const RolloutPlan planned = started(2, wave(1, 50'000, 48 * hour, now + day));
    const RolloutPlan paused = pause_wave(planned, "", now + hour).plan;
    EXPECT_EQ(share_at(*paused.find(commit(1))->wave, now + 10 * day), 0);
    EXPECT_EQ(resume_wave(paused, now + 2 * hour).plan.find(commit(1))->wave,
              (RolloutWave{now + day, 50'000, 48 * hour}));
    EXPECT_EQ(resume_wave(paused, now + 3 * day).plan.find(commit(1))->wave,
              (RolloutWave{now + 3 * day, 50'000, 48 * hour}));
}

TEST(RolloutChanges, PausingAndResumingTwiceChangesNothing) {
    const RolloutPlan running = started(2, wave(1));
    const RolloutPlan paused = pause_wave(running, "one", now + hour).plan;
    EXPECT_TRUE(pause_wave(paused, "two", now + day).unchanged);
    EXPECT_TRUE(resume_wave(running, now + day).unchanged);
    const RolloutPlan done = started(2, wave(1, whole_share, 0));
    EXPECT_THAT(message_of([&] { static_cast<void>(pause_wave(done, "", now)); }),
                HasSubstr("all devices have had their turn"));
    EXPECT_THAT(message_of([&] { static_cast<void>(resume_wave(done, now)); }),
                HasSubstr("all devices have had their turn"));
}

TEST(RolloutChanges, AnAbortTakesWaveAndEdges) {
    const RolloutPlan running =
        start_wave(started(2, wave(1, whole_share, 0)), "edge", releases(3), wave(2), now + 1).plan;
    const ChangedPlan aborted = abort_wave(running, "", "no network", now + 10 * hour);
    EXPECT_THAT(edges(aborted.plan), ElementsAre(Pair(0, 1)));
    EXPECT_EQ(aborted.plan.find(commit(2))->aborted, "no network");
    std::vector<std::string> reasons;
    for (const BarredJump& jump : aborted.plan.barred) {
        if (jump.to == commit(2)) {
            reasons.push_back(jump.reason);
        }
    }
    EXPECT_THAT(reasons, ElementsAre("the rollout was aborted: no network",
                                     "the rollout was aborted: no network"));
    EXPECT_THAT(aborted.remarks, ElementsAre(HasSubstr("keep 9.2")));
    // A second one, as a script that runs again does, takes nothing else.
    EXPECT_THAT(message_of([&] { static_cast<void>(abort_wave(aborted.plan, "", "", now + day)); }),
                HasSubstr("all devices have had their turn to get 9.1"));
    EXPECT_THAT(edges(abort_wave(aborted.plan, commit(1), "", now + day).plan), IsEmpty());
    // What goes on from it, and the commit itself once more.
    const RolloutPlan next = start_wave(aborted.plan, "edge", releases(4), wave(3), now + day).plan;
    EXPECT_THAT(edges(next), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 3), Pair(2, 3)));
    EXPECT_EQ(start_wave(aborted.plan, "edge", releases(3), wave(2), now + day)
                  .plan.find(commit(2))
                  ->aborted,
              std::nullopt);
}

TEST(RolloutChanges, WhatIsNotThereCannotBeStopped) {
    RolloutPlan plan;
    plan.ref = "edge";
    for (const std::function<void()>& work :
         {std::function<void()>([&] { static_cast<void>(pause_wave(plan, "", now)); }),
          std::function<void()>([&] { static_cast<void>(resume_wave(plan, now)); }),
          std::function<void()>([&] { static_cast<void>(abort_wave(plan, "", "", now)); }),
          std::function<void()>(
              [&] { static_cast<void>(abort_wave(plan, commit(1), "", now)); })}) {
        EXPECT_THAT(message_of(work), HasSubstr("there is no rollout"));
    }
}

TEST(RolloutChanges, ASerialIsLaterThanTheOneBefore) {
    RolloutPlan plan;
    renew(plan, 0, now, day);
    EXPECT_EQ(plan.serial, now);
    EXPECT_EQ(plan.expires, now + day);
    renew(plan, now, now, day);
    EXPECT_EQ(plan.serial, now + 1);
    // A clock that went back.
    renew(plan, now + 500, now, day);
    EXPECT_EQ(plan.serial, now + 501);
}

TEST(RolloutChanges, TheOldestAreForgottenAndBarriersAreNot) {
    WaveRequest barrier = wave(0, whole_share, 0);
    barrier.barrier = "keys";
    const RolloutPlan first = started(2, barrier);
    const RolloutPlan plan = start_wave(first, "edge", releases(400), wave(399), now + hour).plan;
    EXPECT_EQ(plan.releases.size(), 300U);
    EXPECT_EQ(plan.releases[0].commit, commit(0));
    EXPECT_EQ(plan.releases[1].commit, commit(101));
    EXPECT_EQ(plan.edges.size(), 299U);
    EXPECT_LT(plan_text(plan).size(), largest_plan);
}

/// A change that may be refused, as it is in scripts that run at any time.
RolloutPlan changed_at_random(const RolloutPlan& plan, std::mt19937& random, int& count,
                              std::int64_t time) {
    try {
        switch (random() % 5) {
            case 0:
                return pause_wave(plan, "reason", time).plan;
            case 1:
                return resume_wave(plan, time).plan;
            case 2:
                return abort_wave(plan, "", "reason", time).plan;
            case 3:
                return abort_wave(plan,
                                  commit(static_cast<int>(random() % static_cast<unsigned>(count))),
                                  "", time)
                    .plan;
            default:
                count = std::min(count + static_cast<int>(random() % 2), 12);
                WaveRequest request =
                    wave(static_cast<int>(random() % static_cast<unsigned>(count)),
                         static_cast<std::int64_t>(random() % 1'000'001),
                         static_cast<std::int64_t>(random() % 3) * hour,
                         time + static_cast<std::int64_t>(random() % 2) * hour);
                if (random() % 4 == 0) {
                    request.barrier = "barrier";
                }
                return start_wave(plan, "edge", releases(count), request, time).plan;
        }
    } catch (const Error& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::usage) << failure.message();
        EXPECT_FALSE(failure.hint().empty()) << failure.message();
        return plan;
    }
}

TEST(RolloutChanges, WhateverIsDoneAPlanIsOne) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        int count = 2;
        std::int64_t time = now;
        RolloutPlan plan = started(count, wave(1));
        renew(plan, 0, time, day);
        for (int step = 0; step < 30; ++step) {
            const std::int64_t serial = plan.serial;
            time += static_cast<std::int64_t>(random() % 5000);
            plan = changed_at_random(plan, random, count, time);
            renew(plan, serial, time, day);
            ASSERT_GT(plan.serial, serial);
            const RolloutPlan read = parse_plan(plan_text(plan), "x");
            ASSERT_EQ(read.edges, plan.edges);
            for (const PlannedRelease& release : plan.releases) {
                ASSERT_TRUE(release.wave || !release.paused);
                ASSERT_FALSE(release.wave && release.aborted);
            }
            // One that goes on, one that is complete, and barriers.
            ASSERT_LE(std::ranges::count_if(plan.releases,
                                            [](const PlannedRelease& release) {
                                                return release.wave && !release.barrier;
                                            }),
                      2);
        }
    }
}

TEST(RolloutChanges, AloneNobodyMoves) {
    const ChangedPlan changed = start_wave({}, "edge", releases(1), wave(0), now);
    EXPECT_THAT(changed.plan.edges, IsEmpty());
    EXPECT_THAT(changed.remarks, ElementsAre(HasSubstr("there is no older release")));
}

}  // namespace
}  // namespace edgegpu::rollout_changes_test
