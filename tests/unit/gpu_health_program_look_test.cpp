#include "gpu_health/program/look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace edgegpu::gpu_health {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds look_patience{60};

TEST(GpuHealthLook, AChildGivesBackWhatItFound) {
    Facts facts;
    facts.commit = "abc";
    const StepRun run = look_in_child(
        [](Facts& changed) {
            EXPECT_EQ(changed.commit, "abc");
            changed.kernel = "6.1.0\xff";
        },
        look_patience, facts);
    EXPECT_EQ(run.error, "");
    EXPECT_FALSE(run.hung);
    EXPECT_GT(run.milliseconds, 0);
    EXPECT_EQ(facts.commit, "abc");
    EXPECT_EQ(facts.kernel, "6.1.0\xef\xbf\xbd");
}

TEST(GpuHealthLook, AStepThatFailsChangesNothing) {
    Facts facts;
    const auto crash = [](Facts& changed) {
        changed.kernel = "changed";
        ::raise(SIGKILL);
    };
    EXPECT_THAT(look_in_child(crash, look_patience, facts).error,
                HasSubstr("gpu-health failed: signal 9"));
    const auto refuse = [](Facts& changed) {
        changed.kernel = "changed";
        throw std::runtime_error("sysfs is not mounted\nand more");
    };
    EXPECT_EQ(look_in_child(refuse, look_patience, facts).error, "sysfs is not mounted");
    const auto too_much = [](Facts& changed) { changed.kernel.assign(20U << 20U, 'x'); };
    EXPECT_THAT(look_in_child(too_much, look_patience, facts).error,
                HasSubstr("gpu-health failed"));
    EXPECT_EQ(facts, Facts());
}

TEST(GpuHealthLook, ALongLogIsGivenBackAsAWhole) {
    Facts facts;
    // As long as the step keeps it, and each byte takes six in JSON.
    const auto find = [](Facts& changed) {
        changed.kernel_log.assign(2200, {0, std::string(1000, '\x01')});
    };
    EXPECT_EQ(look_in_child(find, look_patience, facts).error, "");
    EXPECT_EQ(facts.kernel_log.size(), 2200U);
}

TEST(GpuHealthLook, AStepThatHangsIsTold) {
    Facts facts;
    const StepRun run = look_in_child(
        [](Facts& changed) {
            changed.kernel = "changed";
            for (;;) {
                ::pause();
            }
        },
        std::chrono::seconds(1), facts);
    EXPECT_TRUE(run.hung);
    EXPECT_EQ(run.error, "it did not end in time");
    EXPECT_EQ(facts, Facts());
}

TEST(GpuHealthLook, AMachineWithoutAnythingHasAllSteps) {
    Places places;
    places.root = places.sys = places.proc = places.dev = "/nonexistent";
    places.kmsg = "/nonexistent/kmsg";
    Settings settings;
    settings.workload = {"direct"};
    Notes notes;
    const Look look = look_at_machine(places, settings, Probe{"/nonexistent"}, notes);
    for (const Step step : all_steps) {
        const bool asks = step == Step::nvml || step == Step::workload;
        EXPECT_EQ(look.facts.runs.contains(std::string(name_of(step))), !asks) << name_of(step);
    }
    // Without a driver nothing is asked: NVML would load it.
    EXPECT_EQ(look.facts.nvml.end, ChildEnd::not_run);
    EXPECT_EQ(look.facts.nvml.text, "the driver is not loaded");
    ASSERT_EQ(look.facts.workloads.size(), 1U);
    EXPECT_EQ(look.facts.workloads[0].end, ChildEnd::not_run);
}

}  // namespace
}  // namespace edgegpu::gpu_health
