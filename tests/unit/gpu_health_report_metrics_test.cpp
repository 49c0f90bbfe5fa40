#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health/report/report.hpp"

namespace edgegpu::gpu_health {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(GpuHealthMetrics, OneVerdictIsTrue) {
    Judgement judgement;
    judgement.verdict = Verdict::machine;
    judgement.working = 2;
    const std::string text = metrics_text(Facts(), judgement);
    EXPECT_THAT(text, HasSubstr("edgegpu_gpu_health_verdict{verdict=\"machine\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("edgegpu_gpu_health_verdict{verdict=\"healthy\"} 0\n"));
    EXPECT_THAT(text, HasSubstr("# TYPE edgegpu_gpu_health_red gauge\nedgegpu_gpu_health_red 0\n"));
    EXPECT_THAT(text, HasSubstr("edgegpu_gpu_health_gpus_working 2\n"));
    // A heading without samples is an error for some readers.
    EXPECT_THAT(text, Not(HasSubstr("edgegpu_gpu_health_fault")));
    EXPECT_THAT(text, Not(HasSubstr("step_seconds")));
}

TEST(GpuHealthMetrics, FaultsAreThereOnceAndEscaped) {
    Judgement judgement;
    const Finding finding{Step::nvml, Verdict::hardware, "nvml\"-\\15", "0000:65:00.0\n", "lost",
                          ""};
    judgement.findings = {finding, finding};
    const std::string text = metrics_text(Facts(), judgement);
    const std::string sample =
        "edgegpu_gpu_health_fault{step=\"nvml\",fault=\"nvml\\\"-\\\\15\",device=\"0000:65:00.0 \","
        "verdict=\"hardware\"} 1\n";
    const std::size_t first = text.find(sample);
    ASSERT_NE(first, std::string::npos) << text;
    EXPECT_EQ(text.find(sample, first + 1), std::string::npos);
}

TEST(GpuHealthMetrics, StepsHaveTheirSeconds) {
    Facts facts;
    facts.runs["nvml"] = {45000.25, true, ""};
    facts.runs["unknown"] = {1, false, ""};
    const std::string text = metrics_text(facts, Judgement());
    EXPECT_THAT(text, HasSubstr("edgegpu_gpu_health_step_seconds{step=\"nvml\"} 45.000250\n"));
    EXPECT_THAT(text, HasSubstr("edgegpu_gpu_health_step_hung{step=\"nvml\"} 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("unknown")));
}

}  // namespace
}  // namespace edgegpu::gpu_health
