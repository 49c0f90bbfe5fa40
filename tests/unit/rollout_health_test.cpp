#include "rollout/health.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rollout/turns.hpp"

namespace edgegpu::rollout_health_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::int64_t now = 1'764'330'000;
constexpr std::int64_t hour = 3600;
const std::string before(64, '1');
const std::string after(64, '2');

RolloutPlan plan() {
    RolloutPlan made;
    made.ref = "edge";
    made.releases.resize(2);
    made.releases[0].commit = before;
    made.releases[1].commit = after;
    made.releases[1].index = 1;
    made.releases[1].wave = RolloutWave{now - hour, 500'000, 0};
    return made;
}

DeviceReport report(int number, const std::string& commit, std::int64_t time = now - 60) {
    DeviceReport made;
    made.id = fmt::format("{:032x}", number);
    made.time = time;
    made.ref = "edge";
    made.commit = commit;
    made.state = "current";
    made.available = after;
    made.system = "running";
    made.gpus = 2;
    return made;
}

FleetHealth judge(std::vector<DeviceReport> reports) {
    return judge_health(plan(), {std::move(reports), 0}, now);
}

/// Why the only device of these reports has failed; "" if it is well, "pending" or "not tried".
std::string reason_of(std::vector<DeviceReport> reports) {
    const FleetHealth health = judge(std::move(reports));
    EXPECT_EQ(health.devices, 1U);
    if (!health.failed.empty()) {
        EXPECT_EQ(health.tried, 1U);
        return health.failed.front().reason;
    }
    return health.tried == 1 ? "" : health.pending == 1 ? "pending" : "not tried";
}

TEST(RolloutHealth, WhoHasFailed) {
    EXPECT_EQ(reason_of({report(1, before)}), "not tried");
    EXPECT_EQ(reason_of({report(1, after)}), "");
    DeviceReport refused = report(1, before);
    refused.refused = after;
    EXPECT_THAT(reason_of({refused}), HasSubstr("went back"));
    refused.refused = before;
    EXPECT_EQ(reason_of({refused}), "not tried");
    DeviceReport checking = report(1, after);
    checking.state = "checking";
    EXPECT_EQ(reason_of({checking}), "pending");
    checking.time = now - 3 * hour;
    EXPECT_THAT(reason_of({checking}), HasSubstr("health checks have not passed"));
    DeviceReport restarting = report(1, before);
    restarting.state = "restarting";
    EXPECT_EQ(reason_of({restarting}), "pending");
    restarting.time = now - 3 * hour;
    EXPECT_THAT(reason_of({restarting}), HasSubstr("has not reported since"));
    restarting.available = before;
    EXPECT_EQ(reason_of({restarting}), "not tried");
    DeviceReport failing = report(1, after);
    failing.state = "failed";
    failing.failures = 2;
    EXPECT_EQ(reason_of({failing}), "");
    failing.failures = 3;
    EXPECT_THAT(reason_of({failing}), HasSubstr("3 times"));
}

TEST(RolloutHealth, WhatWasSoBeforeIsNoFailure) {
    DeviceReport degraded = report(1, after);
    degraded.system = "degraded";
    EXPECT_THAT(reason_of({degraded}), HasSubstr("its system is degraded"));
    DeviceReport old = report(1, before, now - hour);
    EXPECT_THAT(reason_of({old, degraded}), HasSubstr("its system is degraded"));
    old.system = "degraded";
    EXPECT_EQ(reason_of({old, degraded}), "");
    EXPECT_EQ(reason_of({degraded, old}), "");
    DeviceReport fewer = report(1, after);
    fewer.gpus = 1;
    EXPECT_EQ(reason_of({fewer}), "");
    EXPECT_THAT(reason_of({report(1, before, now - hour), fewer}),
                HasSubstr("it has 1 GPUs, and had 2"));
    old.gpus = 1;
    EXPECT_EQ(reason_of({old, fewer}), "");
}

TEST(RolloutHealth, OnlyAFaultOfTheImageIsTheCommits) {
    DeviceReport broken = report(1, after);
    broken.gpu_health = {"image", "nouveau-bound"};
    EXPECT_THAT(reason_of({broken}), HasSubstr("gpu-health says: image (nouveau-bound)"));
    EXPECT_THAT(judge({broken}).gpu_faults, IsEmpty());
    DeviceReport old = report(1, before, now - hour);
    EXPECT_THAT(reason_of({old, broken}), HasSubstr("gpu-health says"));
    old.gpu_health = {"image", "nvml-18"};
    EXPECT_THAT(reason_of({old, broken}), HasSubstr("gpu-health says"));
    old.gpu_health.fault = "nouveau-bound";
    EXPECT_EQ(reason_of({old, broken}), "");
    EXPECT_EQ(judge({old, broken}).gpu_faults.size(), 1U);
    // With another commit it says nothing of this one.
    broken.commit = before;
    EXPECT_EQ(reason_of({broken}), "not tried");
    EXPECT_THAT(judge({broken}).gpu_faults, IsEmpty());
}

TEST(RolloutHealth, ACardThatDiesIsShown) {
    for (const char* const verdict : {"hardware", "machine", "unclear"}) {
        DeviceReport ill = report(1, after);
        ill.gpu_health = {verdict, "xid-79"};
        const FleetHealth health = judge({report(1, before, now - hour), ill});
        EXPECT_THAT(health.failed, IsEmpty());
        EXPECT_EQ(health.tried, 1U);
        ASSERT_EQ(health.gpu_faults.size(), 1U);
        EXPECT_EQ(health.gpu_faults.front().id, ill.id);
        EXPECT_EQ(health.gpu_faults.front().reason, std::string(verdict) + " (xid-79)");
        // It takes GPU and services with it; whose fault that is, "unclear" does not say.
        ill.gpus = 1;
        ill.system = "degraded";
        EXPECT_EQ(reason_of({report(1, before, now - hour), ill}).empty(),
                  std::string(verdict) != "unclear");
        ill.system = "emergency";
        EXPECT_THAT(reason_of({ill}), HasSubstr("its system is emergency"));
        ill.refused = after;
        ill.commit = before;
        EXPECT_THAT(reason_of({ill}), HasSubstr("went back"));
    }
    DeviceReport well = report(1, after);
    well.gpu_health = {"healthy", ""};
    EXPECT_THAT(judge({well}).gpu_faults, IsEmpty());
    well.gpus = 1;
    EXPECT_THAT(reason_of({report(1, before, now - hour), well}), HasSubstr("GPUs, and had 2"));
}

TEST(RolloutHealth, TheNewestReportCounts) {
    DeviceReport refused = report(1, before, now - 10);
    refused.refused = after;
    EXPECT_THAT(reason_of({report(1, after, now - 20), refused}), HasSubstr("went back"));
    EXPECT_THAT(reason_of({refused, report(1, after, now - 20)}), HasSubstr("went back"));
    EXPECT_EQ(reason_of({refused, report(1, after, now - 5)}), "");
    // Of the same second, the later one in the file.
    EXPECT_EQ(reason_of({refused, report(1, after, now - 10)}), "");
}

TEST(RolloutHealth, WhatSaysNothingOfTheRefIsIgnored) {
    DeviceReport other = report(1, after);
    other.ref = "other";
    const FleetHealth health =
        judge_health(plan(), {{other, report(2, after, now + 2 * hour), report(3, after)}, 5}, now);
    EXPECT_EQ(health.devices, 1U);
    EXPECT_EQ(health.ignored, 7U);
    EXPECT_THAT(health.running, UnorderedElementsAre(Pair(after, 1U)));
}

TEST(RolloutHealth, TurnsAreThoseOfTheIds) {
    std::vector<DeviceReport> reports;
    std::size_t had = 0;
    for (int i = 0; i < 1000; ++i) {
        reports.push_back(report(i, before));
        had += position_of(reports.back().id, after) < 500'000 ? 1 : 0;
    }
    const FleetHealth health = judge(std::move(reports));
    EXPECT_EQ(health.had_turn, had);
    EXPECT_EQ(health.next_hour, 0U);
    EXPECT_NEAR(static_cast<double>(had), 500, 60);
}

TEST(RolloutHealth, LimitsAreLimits) {
    FleetHealth health;
    health.tried = 100;
    health.failed.resize(2);
    EXPECT_EQ(reason_to_stop(health, {20'000, {}, 1}), std::nullopt);
    EXPECT_THAT(reason_to_stop(health, {19'999, {}, 1}).value(), HasSubstr("2 of 100 devices"));
    EXPECT_EQ(reason_to_stop(health, {19'999, {}, 101}), std::nullopt);
    EXPECT_THAT(reason_to_stop(health, {0, {}, 1}).value(), HasSubstr("2 of 100"));
    EXPECT_EQ(reason_to_stop(health, {}), std::nullopt);
    EXPECT_EQ(reason_to_stop({}, {0, 0, 1}), std::nullopt);
    health.unavailable = {{"a", 3}, {"b\n", 4}};
    EXPECT_EQ(reason_to_stop(health, {{}, 4, 1}), std::nullopt);
    EXPECT_THAT(reason_to_stop(health, {{}, 3, 1}).value(), HasSubstr("4 devices of group b"));
}

TEST(RolloutHealth, AGroupHasWhoIsOnTheWay) {
    DeviceReport checking = report(1, after);
    checking.state = "checking";
    DeviceReport refused = report(2, before);
    refused.refused = after;
    DeviceReport good = report(3, after);
    for (DeviceReport* one : {&checking, &refused, &good}) {
        one->group = "rack";
    }
    EXPECT_THAT(judge({checking, refused, good}).unavailable,
                UnorderedElementsAre(Pair("rack", 2U)));
    EXPECT_THAT(judge({report(4, after)}).unavailable, IsEmpty());
}

TEST(RolloutHealth, WithoutARolloutNothingIsTried) {
    RolloutPlan idle = plan();
    idle.releases[1].wave.reset();
    const FleetHealth health = judge_health(idle, {{report(1, after)}, 0}, now);
    EXPECT_EQ(health.devices, 1U);
    EXPECT_EQ(health.tried, 0U);
}

}  // namespace
}  // namespace edgegpu::rollout_health_test
