#include "gpu_health/program/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

Judgement red_by(Verdict verdict, Step step) {
    Judgement judgement;
    judgement.verdict = verdict;
    judgement.red = true;
    judgement.reason = "why";
    judgement.findings = {{step, verdict, "fault", "", "text", ""}};
    judgement.deciding = 0;
    return judgement;
}

bool stays_red(Judgement judgement, const Facts& facts, bool machine_known, bool remembered,
               bool settings_known = true) {
    allow_for_own_faults(judgement, facts, machine_known, remembered, settings_known);
    EXPECT_EQ(judgement.red, judgement.reason == "why");
    return judgement.red;
}

TEST(GpuHealthCheck, AFaultOfTheProgramIsNeverRed) {
    Facts facts;
    facts.runs["module"] = {1, false, "gpu-health failed: signal 11 ended the step"};
    EXPECT_FALSE(stays_red(red_by(Verdict::image, Step::module), facts, true, true));
    EXPECT_TRUE(stays_red(red_by(Verdict::image, Step::binding), facts, true, true));
    EXPECT_FALSE(stays_red(red_by(Verdict::image, Step::binding), facts, false, true));
    EXPECT_FALSE(stays_red(red_by(Verdict::image, Step::binding), facts, true, true, false));
    // A driver in which NVML hangs is no fault of the program.
    facts.runs["nvml"] = {45000, true, "it did not end in time"};
    EXPECT_TRUE(stays_red(red_by(Verdict::unclear, Step::nvml), facts, true, true));
}

TEST(GpuHealthCheck, AMachineThatCouldNotBeLookedAtIsNotHealthy) {
    Facts facts;
    Judgement judgement;
    allow_for_own_faults(judgement, facts, true, true, true);
    EXPECT_EQ(judgement.verdict, Verdict::healthy);
    facts.runs["presence"] = {1, false, "sysfs is not mounted"};
    allow_for_own_faults(judgement, facts, true, true, true);
    EXPECT_EQ(judgement.verdict, Verdict::unclear);
    EXPECT_FALSE(judgement.red);
}

TEST(GpuHealthCheck, GpusOfWhichNobodyWasAskedAreNotHealthy) {
    Facts facts;
    facts.nvml.end = ChildEnd::missing;
    Judgement none;
    none.verdict = Verdict::healthy;
    allow_for_own_faults(none, facts, true, true, true);
    EXPECT_EQ(none.verdict, Verdict::healthy) << "there is no GPU to ask about";
    facts.functions.emplace_back();
    Judgement unasked = none;
    allow_for_own_faults(unasked, facts, true, true, true);
    EXPECT_EQ(unasked.verdict, Verdict::unclear);
    EXPECT_FALSE(unasked.red);
    facts.nvml.end = ChildEnd::not_run;
    Judgement of_guests = none;
    allow_for_own_faults(of_guests, facts, true, true, true);
    EXPECT_EQ(of_guests.verdict, Verdict::healthy) << "GPUs that are passed through";
    facts.runs["nvml"] = {1, false, "fork: Resource temporarily unavailable"};
    allow_for_own_faults(of_guests, facts, true, true, true);
    EXPECT_EQ(of_guests.verdict, Verdict::unclear);
}

TEST(GpuHealthCheck, AnUnclearFaultThatIsForgottenIsNotRed) {
    EXPECT_FALSE(stays_red(red_by(Verdict::unclear, Step::nvml), Facts(), true, false));
    EXPECT_TRUE(stays_red(red_by(Verdict::image, Step::nvml), Facts(), true, false));
}

TEST(GpuHealthCheck, StatusesOfVerdicts) {
    Judgement judgement;
    for (const auto& [verdict, status] : {std::pair{Verdict::healthy, 0},
                                          {Verdict::hardware, 3},
                                          {Verdict::machine, 4},
                                          {Verdict::unclear, 5},
                                          {Verdict::image, 5}}) {
        judgement.verdict = verdict;
        EXPECT_EQ(exit_status(judgement), status);
    }
    judgement.red = true;
    EXPECT_EQ(exit_status(judgement), 1);
}

TEST(GpuHealthCheck, WhatIsWrongWithOptionsIsGreenForGreenboot) {
    EXPECT_EQ(run_gpu_health({"--nothing"}), 2);
    EXPECT_EQ(run_gpu_health({"--nothing", "--greenboot"}), 0);
    EXPECT_EQ(run_gpu_health({"--facts", "/nonexistent"}), 2);
    EXPECT_EQ(run_gpu_health({"--facts", "/nonexistent", "--greenboot"}), 0);
}

TEST(GpuHealthCheck, TheWholeIsBounded) {
    Settings settings;
    const auto usual = whole_deadline(settings);
    EXPECT_LT(usual, std::chrono::minutes(4));
    settings.workload = {"direct", "podman"};
    EXPECT_EQ(whole_deadline(settings) - usual, 2 * std::chrono::seconds(60));
    settings.deadlines["nvml"] = 145;
    EXPECT_EQ(whole_deadline(settings) - usual, std::chrono::seconds(220));
}

}  // namespace
}  // namespace edgegpu::gpu_health
