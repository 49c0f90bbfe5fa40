#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/tables/tables.hpp"
#include "gpu_health/steps.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view before_health =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n[accounts]\nlogin = \"none\"\n";
constexpr std::string_view nvidia = "[nvidia]\ndriver = \"535\"\n";

class HealthTableTest : public BlueprintTest {
protected:
    [[nodiscard]] GpuHealthRequest health(const std::string& text) const {
        return parse(std::string(before_health) + std::string(nvidia) + "[health.gpu]\n" + text)
            .gpu_health.value();
    }
    /// The error of a blueprint with `[nvidia]` and this in `[health.gpu]`, from line 12 on.
    [[nodiscard]] std::string mistakes(const std::string& text) const {
        return failure(std::string(before_health) + std::string(nvidia) + "[health.gpu]\n" + text);
    }
};

TEST_F(HealthTableTest, HasDefaults) {
    EXPECT_FALSE(parse(std::string(before_health)).gpu_health.has_value());
    const GpuHealthRequest plain = health("");
    EXPECT_EQ(plain.minimum, 1U);
    EXPECT_FALSE(plain.passthrough);
    EXPECT_EQ(plain.on_missing_gpu, FaultAnswer::pass);
    EXPECT_EQ(plain.on_unclear, FaultAnswer::pass);
    EXPECT_TRUE(plain.workload.empty());
    EXPECT_EQ(plain.location.line, 11U);
    EXPECT_EQ(health("devices = [\"10de:20b7\", \"10DE:20B7\"]\n").minimum, 2U);
    EXPECT_EQ(health("minimum = 0\n").minimum, 0U);
}

TEST_F(HealthTableTest, IsRead) {
    const GpuHealthRequest all = health(R"(minimum = 2
devices = ["10DE:20B7", "10de:2335"]
on_missing_gpu = "fail"
on_unclear = "fail"
workload = ["podman", "direct", "podman"]
workload_image = "lab.example.invalid/busybox:1"
textfile = "/var/lib/node_exporter/textfile_collector"
deadlines = { nvml = 600, kernel-log = 1 }
[health.gpu.require]
memory = "40 GiB"
mig = false
persistence = true
link_width = 16
link_generation = 4
)");
    EXPECT_EQ(all.minimum, 2U);
    EXPECT_THAT(all.devices, ElementsAre("10de:20b7", "10de:2335"));
    EXPECT_EQ(all.devices_location.line, 13U);
    EXPECT_EQ(all.on_missing_gpu, FaultAnswer::fail);
    EXPECT_EQ(all.on_unclear, FaultAnswer::fail);
    EXPECT_THAT(all.workload, ElementsAre(GpuWorkload::podman, GpuWorkload::direct));
    EXPECT_EQ(all.workload_image, "lab.example.invalid/busybox:1");
    EXPECT_EQ(all.workload_image_location.line, 17U);
    EXPECT_EQ(all.textfile, "/var/lib/node_exporter/textfile_collector");
    EXPECT_EQ(all.deadlines,
              (std::map<std::string, std::uint32_t>{{"kernel-log", 1}, {"nvml", 600}}));
    EXPECT_EQ(all.require.memory, 40ULL << 30U);
    EXPECT_EQ(all.require.mig, false);
    EXPECT_EQ(all.require.persistence, true);
    EXPECT_EQ(all.require.link_width, 16U);
    EXPECT_EQ(all.require.link_generation, 4U);
}

TEST_F(HealthTableTest, TheNameOfAnImageIsCompleted) {
    const std::string digest = "@sha256:" + std::string(64, 'a');
    const std::vector<std::pair<std::string, std::string>> cases{
        {"busybox", "docker.io/library/busybox:latest"},
        {"quay.io/x/app", "quay.io/x/app:latest"},
        {"quay.io/x/app:1" + digest, "quay.io/x/app" + digest}};
    for (const auto& [name, complete] : cases) {
        EXPECT_EQ(
            health("workload = \"podman\"\nworkload_image = \"" + name + "\"\n").workload_image,
            complete);
    }
}

TEST_F(HealthTableTest, WhatIsWrongIsAMistake) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"minimum = -1\n", "minimum"},
        {"minimum = 65\n", "minimum"},
        {"minimal = 1\n", "did you mean"},
        {"devices = [\"8086:1234\"]\n", "is not a device of NVIDIA"},
        {"devices = [\"20b7\"]\n", "is not a PCI id"},
        {"on_missing_gpu = \"ignore\"\n", "must be one of \"pass\", \"fail\""},
        {"workload = \"docker\"\n", "there is no workload \"docker\""},
        {"workload = \"crio\"\n", "needs \"health.gpu.workload_image\""},
        {"workload = \"direct\"\nworkload_image = \"x\"\n", "without a workload in a container"},
        {"workload = \"podman\"\nworkload_image = \"quay.io/X:1\"\n",
         "not the name of a container"},
        {"workload = \"podman\"\nworkload_image = \"--privileged\"\n",
         "not the name of a container"},
        {"textfile = \"/etc/metrics\"\n", "below /var"},
        {"textfile = \"/var\"\n", "below /var"},
        {"textfile = \"/variable/x\"\n", "below /var"},
        {"textfile = \"/var/../etc\"\n", "textfile"},
        {"textfile = \"metrics\"\n", "absolute"},
        {"[health.gpu.deadlines]\nnvlm = 5\n", "did you mean 'nvml'?"},
        {"[health.gpu.deadlines]\nsomething-else-entirely = 5\n", "one of presence, binding"},
        {"[health.gpu.deadlines]\nnvml = 0\n", "nvml"},
        {"[health.gpu.deadlines]\nnvml = 601\n", "nvml"},
        {"[health.gpu.deadlines]\nnvml = \"5s\"\n", "nvml"},
        {"[health.gpu.require]\nlink_width = 3\n", "no link has 3 lanes"},
        {"[health.gpu.require]\nlink_generation = 9\n", "link_generation"},
        {"[health.gpu.require]\nmemory = \"much\"\n", "must be a size"},
        {"[health.gpu.require]\nmig = \"yes\"\n", "mig"},
        {"[health.gpu.require]\nmemroy = 1\n", "did you mean"},
        {"passthrough = true\nworkload = \"direct\"\n", "have no driver here"},
        {"passthrough = true\nrequire.persistence = false\n", "have no driver here"},
    };
    for (const auto& [text, message] : cases) {
        const std::string seen = mistakes(text);
        EXPECT_THAT(seen, HasSubstr(message)) << text;
        EXPECT_THAT(seen, HasSubstr("b.toml:1")) << text;
        EXPECT_EQ(seen.find("error:"), seen.rfind("error:")) << seen;
    }
}

TEST_F(HealthTableTest, AVerdictHasToComeInTime) {
    EXPECT_THAT(mistakes("[health.gpu.deadlines]\nnvml = 600\ncdi = 600\n"),
                HasSubstr("may take 1250 s in all, more than 1200 s"));
    EXPECT_EQ(mistakes("[health.gpu.deadlines]\nnvml = 600\ncdi = 550\n"), "no error");
    // The time of the workload counts for each way in which it is run.
    EXPECT_EQ(mistakes("deadlines.workload = 500\nworkload = \"direct\"\n"), "no error");
    EXPECT_THAT(mistakes("deadlines.workload = 600\nworkload = [\"direct\", \"podman\"]\n"),
                HasSubstr("more than 1200 s"));
}

TEST_F(HealthTableTest, FitsWhatTheImageHas) {
    const std::string plain(before_health);
    EXPECT_THAT(failure(plain + "[health.gpu]\n"), HasSubstr("[health.gpu] without [nvidia]"));
    EXPECT_EQ(failure(plain + "[health.gpu]\npassthrough = true\n"), "no error");
    EXPECT_EQ(failure(plain + "[health]\n"), "no error");
    EXPECT_THAT(failure(plain + "[health.cpu]\n"), HasSubstr("did you mean"));
    EXPECT_THAT(
        failure(plain + "[nvidia]\ndriver = \"535\"\ngpus = 2\n[health.gpu]\nminimum = 3\n"),
        HasSubstr("3 GPUs must work, and [nvidia] says that devices have at most 2"));
    EXPECT_THAT(failure(plain + "[nvidia]\ndriver = \"535\"\ndevices = [\"10de:20b7\"]\n"
                                "[health.gpu]\ndevices = [\"10de:2335\"]\n"),
                HasSubstr("10de:2335 is not among devices of [nvidia]"));
}

}  // namespace
}  // namespace edgegpu
