#include "customise/health/health.hpp"

#include <sys/wait.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "customise/health/programs.hpp"
#include "customise_fixture.hpp"
#include "gpu_health/settings.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* check = "/usr/lib/greenboot/check/required.d/40_edgegpu_gpu_health.sh";
constexpr const char* units = "/usr/lib/systemd/system/";

class GpuHealthInImages : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        file("/usr/bin/grub2-editenv", "", 0755);
        blueprint.architecture = "x86_64";
        blueprint.gpu_health.emplace();
        blueprint.gpu_health->location = {"b.toml", 3, 1};
        blueprint.nvidia.emplace();
    }
    void greenboot(const std::string& version) {
        tree.packages = {{"greenboot", 0, version, "1", "x86_64"}};
    }
    void add() { add_gpu_health(ctx, blueprint, placed, tree); }
    std::string problem() {
        return error_of([&] { add(); });
    }
    /// What the console says.
    std::string warnings() {
        std::string said;
        ConsoleOutput output;
        output.write = [&](std::string_view text) { said += text; };
        Console loud(output);
        ctx.console = &loud;
        add();
        ctx.console = &console;
        return said;
    }
    [[nodiscard]] bool has(const std::string& path) const {
        return find_entry(tree, path) != nullptr;
    }

    Blueprint blueprint;
    PlacedPaths placed;
};

TEST_F(GpuHealthInImages, TheDirectoryOfResultsMayHaveABlank) {
    greenboot("0.15.8");
    blueprint.gpu_health->textfile = "/var/lib/text files%d";
    warnings();
    EXPECT_THAT(text("/usr/lib/tmpfiles.d/edgegpu-gpu-health.conf"),
                HasSubstr("d \"/var/lib/text files%%d\" 0755 root root -\n"));
}

TEST_F(GpuHealthInImages, ABlueprintWithoutTheTableChangesNothing) {
    blueprint.gpu_health.reset();
    const std::size_t before = tree.entries.size();
    add();
    EXPECT_EQ(tree.entries.size(), before);
}

TEST_F(GpuHealthInImages, ProgramsAndSettingsAreThere) {
    greenboot("0.15.8");
    GpuHealthRequest& health = *blueprint.gpu_health;
    health.minimum = 2;
    health.devices = {"10de:20b7"};
    health.on_missing_gpu = FaultAnswer::fail;
    health.workload = {GpuWorkload::podman, GpuWorkload::direct};
    health.deadlines = {{"nvml", 30}};
    health.textfile = "/var/lib/metrics";
    health.require.memory = 1000;
    health.require.mig = true;
    blueprint.nvidia->mig.push_back({"10de:20b7", {"1g.10gb", "2g.20gb"}, {}});
    file("/usr/bin/podman", "");
    add();
    EXPECT_EQ(text("/usr/libexec/edgegpu/gpu-health"), gpu_health_program());
    EXPECT_EQ(text("/usr/libexec/edgegpu/gpu-probe"), gpu_probe_program());
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/gpu-health").mode, 0755U);
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/gpu-probe").mode, 0755U);
    gpu_health::Settings expected;
    expected.minimum = 2;
    expected.devices = {"10de:20b7"};
    expected.fail_on_missing_gpu = true;
    expected.workload = {"podman", "direct"};
    expected.deadlines = {{"nvml", 30}};
    expected.textfile = "/var/lib/metrics";
    expected.memory = 1000;
    expected.mig = true;
    expected.mig_layouts = {{"10de:20b7", {"1g.10gb", "2g.20gb"}}};
    EXPECT_EQ(gpu_health::read_settings({}, text("/usr/lib/edgegpu/gpu-health.json")), expected);
    EXPECT_THAT(text("/usr/lib/tmpfiles.d/edgegpu-gpu-health.conf"),
                testing::AllOf(HasSubstr("d /var/lib/edgegpu/gpu-health 0755 root root -\n"),
                               HasSubstr("d /var/lib/metrics 0755 root root -\n")));
}

TEST_F(GpuHealthInImages, GreenbootRunsIt) {
    greenboot("0.15.8");
    file(fmt::format("{}edgegpu-gpu-devices.service", units), "");
    file(fmt::format("{}edgegpu-cdi.service", units), "");
    add();
    EXPECT_EQ(tree.entries.at(check).mode, 0755U);
    EXPECT_FALSE(has("/usr/libexec/edgegpu/boot-counting"));
    EXPECT_FALSE(has(fmt::format("{}edgegpu-gpu-health.service", units)));
    const std::string ready =
        text(fmt::format("{}greenboot-healthcheck.service.wants/edgegpu-gpu-ready.service", units));
    EXPECT_THAT(ready, HasSubstr("\nExecStart=-/usr/bin/systemctl start "
                                 "edgegpu-gpu-devices.service edgegpu-cdi.service\n"));
    EXPECT_THAT(ready, HasSubstr("Before=greenboot-healthcheck.service"));
}

TEST_F(GpuHealthInImages, WithoutGreenbootUnitsOfOursDo) {
    blueprint.gpu_health->passthrough = true;
    file(fmt::format("{}edgegpu-gpu-devices.service", units), "");
    add();
    EXPECT_FALSE(has(check));
    for (const char* const link :
         {"ostree-finalize-staged.service.requires/edgegpu-boot-counter.service",
          "multi-user.target.wants/edgegpu-boot-fallback.service",
          "boot-complete.target.requires/edgegpu-gpu-health.service",
          "multi-user.target.wants/edgegpu-boot-success.service",
          "edgegpu-gpu-health.service.wants/edgegpu-gpu-ready.service"}) {
        EXPECT_TRUE(has(units + std::string(link))) << link;
    }
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/boot-counting").mode, 0755U);
    // multi-user.target waits for it.
    EXPECT_THAT(text(units + std::string("edgegpu-boot-fallback.service")),
                testing::AllOf(HasSubstr("\n[Service]\nType=oneshot\n"),
                               HasSubstr("\nTimeoutStartSec=10min\n")));
    EXPECT_EQ(text(fmt::format("{}edgegpu-gpu-ready.service", units)).find("systemctl"),
              std::string::npos);
}

TEST_F(GpuHealthInImages, ARollbackThatCannotWorkIsRefused) {
    greenboot("0.16.4");
    EXPECT_THAT(problem(), HasSubstr("b.toml:3:1: greenboot 0.16.4 asks the program bootc"));
    EXPECT_FALSE(has("/usr/libexec/edgegpu/gpu-health"));
    file("/usr/bin/bootc", "");
    EXPECT_EQ(problem(), "");
    greenboot("0.15.6");
    EXPECT_THAT(problem(), HasSubstr("never goes back to a commit of ostree"));
    greenboot("0.15.8");
    tree.entries.erase("/usr/bin/grub2-editenv");
    EXPECT_THAT(problem(), HasSubstr("b.toml:3:1: the image has no grub2-editenv"));
    tree.packages.clear();
    EXPECT_THAT(problem(), HasSubstr("no grub2-editenv"));
    file("/usr/sbin/grub2-editenv", "");
    EXPECT_EQ(problem(), "");
    blueprint.architecture = "aarch64";
    EXPECT_THAT(problem(), HasSubstr("no gpu-health for aarch64"));
}

TEST_F(GpuHealthInImages, OldGreenbootsNeedABootThatCanBeWritten) {
    file("/etc/fstab", "UUID=1 / ext4 ro 0 0\n/dev/sda2 /boot ext4 defaults,ro 0 2\n");
    for (const char* const version : {"0.14.0", "0.15.0", "0.15.4"}) {
        greenboot(version);
        EXPECT_THAT(problem(), HasSubstr(fmt::format("b.toml:3:1: greenboot {} does not remount "
                                                     "/boot, which /etc/fstab mounts read-only",
                                                     version)));
        EXPECT_THAT(problem(), HasSubstr("|mount /boot read-write, or take greenboot 0.15.8"));
    }
    greenboot("0.15.8");
    EXPECT_EQ(warnings(), "") << "it remounts /boot";
    tree.packages.clear();
    EXPECT_EQ(warnings(), "") << "so does boot-counting";
    file("/etc/fstab", "/dev/sda2 /boot ext4 defaults 0 2\n");
    greenboot("0.15.4");
    EXPECT_EQ(warnings(), "") << "nothing else of these versions matters";
}

TEST_F(GpuHealthInImages, AWorkloadNeedsItsProgram) {
    blueprint.gpu_health->workload = {GpuWorkload::crio};
    EXPECT_THAT(problem(), HasSubstr("needs the program crictl"));
    file("/usr/bin/crictl", "");
    EXPECT_EQ(problem(), "");
    blueprint.gpu_health->workload = {GpuWorkload::direct};
    EXPECT_EQ(problem(), "");
}

TEST_F(GpuHealthInImages, WhatKeepsAVerdictFromBeingRightIsAWarning) {
    greenboot("0.15.8");
    EXPECT_EQ(warnings(), "");
    tree.packages.push_back({"flightctl-agent", 0, "0.9", "1", "x86_64"});
    EXPECT_THAT(warnings(), HasSubstr("b.toml:3:1: Flight Control judges upgrades as well"));
    greenboot("0.16.4");
    file("/usr/bin/bootc", "");
    const std::string files =
        ": [[customizations.files]] with path = "
        "\"/etc/systemd/journald.conf.d/50-persistent.conf\" "
        "and data = \"[Journal]\\nStorage=persistent\\n\"";
    const std::string directories =
        ": [[customizations.directories]] with path = \"/etc/systemd/journald.conf.d\", and ";
    EXPECT_THAT(warnings(), HasSubstr(directories + files.substr(2)));
    directory("/etc/systemd/journald.conf.d");
    EXPECT_THAT(warnings(), HasSubstr(files));
    greenboot("0.15.8");
    file("/etc/greenboot/greenboot.conf", "DISABLED_HEALTHCHECKS=(40_edgegpu_gpu_health.sh)\n");
    EXPECT_THAT(warnings(), HasSubstr("is it disabled there?"));
}

TEST_F(GpuHealthInImages, ChecksOfTheUserAreLookedAt) {
    greenboot("0.15.8");
    const std::string own = "/etc/greenboot/check/required.d/50_mine.sh";
    file(own, "#!/bin/bash\nnvidia-smi\n");
    EXPECT_EQ(warnings(), "") << "it is a package's";
    placed[own] = {"overlays/x" + own, true};
    EXPECT_THAT(warnings(), HasSubstr("overlays/x/etc/greenboot/check/required.d/50_mine.sh:2: "));
    placed[own] = {"b.toml:9:1", false};
    EXPECT_THAT(warnings(), HasSubstr(own + ":2: "));
}

/// Runs a shell program of the image on the builder; returns its exit status.
int status_of(const std::string& command) {
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(GpuHealthInImages, OnlyStatusOneIsRed) {
    greenboot("0.15.8");
    add();
    std::string script = text(check);
    const std::string program = "/usr/libexec/edgegpu/gpu-health";
    ASSERT_NE(script.find(program), std::string::npos);
    script.replace(script.find(program), program.size(), (scratch / "gpu-health").string());
    host_file("check.sh", script);
    for (const char* const bash : {"bash ", "bash -C "}) {
        const std::string command = bash + (scratch / "check.sh").string() + " 2>/dev/null";
        std::filesystem::remove(scratch / "gpu-health");
        EXPECT_EQ(status_of(command), 0) << "there is none";
        const std::vector<std::pair<std::string, int>> cases{
            {"exit 0", 0},        {"exit 1", 1},
            {"exit 2", 0},        {"exit 3", 0},
            {"exit 137", 0},      {"kill -SEGV $$", 0},
            {"kill -ABRT $$", 0}, {"[ $1 = --greenboot ]", 0}};
        for (const auto& [what, status] : cases) {
            host_file("gpu-health", "#!/bin/bash\n" + what + "\n", 0700);
            EXPECT_EQ(status_of(command), status) << what;
        }
    }
}

}  // namespace
}  // namespace edgegpu::test
