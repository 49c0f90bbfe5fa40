#include "customise/system/vgpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise/system/numa_node.hpp"
#include "customise_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class VgpuLicence : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        directory("/usr/lib/systemd/system");
        file("/usr/lib/systemd/system/multi-user.target", "");
        nvidia_ = NvidiaRequest{};
        nvidia_->vgpu.emplace();
    }
    std::string refusal() {
        try {
            add_vgpu_licence(ctx, nvidia_, placed_, tree);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.render();
        }
        return "no error";
    }
    std::optional<NvidiaRequest> nvidia_;
    PlacedPaths placed_;
};

TEST_F(VgpuLicence, TheConfigurationHasWhatTheBlueprintSets) {
    VgpuRequest& vgpu = *nvidia_->vgpu;
    EXPECT_EQ(gridd_conf_text(vgpu), "# [nvidia.vgpu] of the blueprint.\n");
    vgpu.server_address = "licences.example";
    vgpu.server_port = 7070;
    vgpu.backup_server_address = "192.0.2.7";
    vgpu.backup_server_port = 7071;
    vgpu.feature_type = 0;
    vgpu.enable_ui = false;
    vgpu.license_interval = 10;
    vgpu.linger_interval = 0;
    vgpu.token_directory = "/var/lib/tokens";
    EXPECT_EQ(gridd_conf_text(vgpu),
              "# [nvidia.vgpu] of the blueprint.\n"
              "ServerAddress=licences.example\nServerPort=7070\n"
              "BackupServerAddress=192.0.2.7\nBackupServerPort=7071\n"
              "FeatureType=0\nEnableUI=FALSE\nLicenseInterval=10\nLingerInterval=0\n"
              "ClientConfigTokenPath=/var/lib/tokens\n");
}

TEST_F(VgpuLicence, TheServiceWaitsForATokenAndKeepsItsState) {
    file("/usr/lib/systemd/system/nvidia-gridd.service", "");
    nvidia_->vgpu->feature_type = 4;
    add_vgpu_licence(ctx, nvidia_, placed_, tree);
    EXPECT_THAT(read_entry(tree, "/etc/nvidia/gridd.conf"), HasSubstr("FeatureType=4\n"));
    EXPECT_THAT(read_entry(tree, "/usr/lib/systemd/system/nvidia-gridd.service.d/10-edgegpu.conf"),
                HasSubstr("ConditionPathExistsGlob=/etc/nvidia/ClientConfigToken/*.tok\n"));
    EXPECT_THAT(read_entry(tree, "/usr/lib/systemd/system/edgegpu-vgpu-token.path"),
                HasSubstr("PathChanged=/etc/nvidia/ClientConfigToken\n"));
    EXPECT_THAT(read_entry(tree, "/usr/lib/systemd/system/edgegpu-vgpu-token.service"),
                HasSubstr("vgpu-token /etc/nvidia/ClientConfigToken\n"));
    EXPECT_EQ(read_entry(tree, "/usr/libexec/edgegpu/vgpu-token"),
              read_file(EDGEGPU_SOURCE_DIR "/src/customise/device/vgpu-token"));
    EXPECT_THAT(read_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-vgpu.conf"),
                AllOf(HasSubstr("d /var/lib/nvidia/GridLicensing 0755 root root -\n"),
                      HasSubstr("d /etc/nvidia/ClientConfigToken 0755 root root -\n")));
    const std::string wants = "/usr/lib/systemd/system/multi-user.target.wants/";
    for (const char* unit :
         {"nvidia-gridd.service", "edgegpu-vgpu-token.service", "edgegpu-vgpu-token.path"}) {
        EXPECT_NE(find_entry(tree, wants + unit), nullptr) << unit;
    }
    ASSERT_TRUE(tree.entries.contains("/etc/nvidia/ClientConfigToken"));
    EXPECT_EQ(tree.entries.at("/etc/nvidia/ClientConfigToken").type, EntryType::directory);
}

TEST_F(VgpuLicence, ATokenElsewhereIsWaitedForThere) {
    file("/usr/lib/systemd/system/nvidia-gridd.service", "");
    nvidia_->vgpu->token_directory = "/var/lib/tokens";
    add_vgpu_licence(ctx, nvidia_, placed_, tree);
    EXPECT_THAT(read_entry(tree, "/usr/lib/systemd/system/edgegpu-vgpu-token.path"),
                HasSubstr("PathChanged=/var/lib/tokens\n"));
    EXPECT_FALSE(tree.entries.contains("/var/lib/tokens")) << "/var is the device's";
    EXPECT_THAT(read_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-vgpu.conf"),
                HasSubstr("d /var/lib/tokens 0755 root root -\n"));
}

TEST_F(VgpuLicence, WithoutATokenNothingWaitsForOne) {
    file("/usr/lib/systemd/system/nvidia-gridd.service", "");
    nvidia_->vgpu->server_address = "licences.example";
    add_vgpu_licence(ctx, nvidia_, placed_, tree);
    EXPECT_EQ(find_entry(tree, "/usr/lib/systemd/system/nvidia-gridd.service.d/10-edgegpu.conf"),
              nullptr);
    EXPECT_EQ(find_entry(tree, "/usr/lib/systemd/system/edgegpu-vgpu-token.path"), nullptr);
    EXPECT_NE(
        find_entry(tree, "/usr/lib/systemd/system/multi-user.target.wants/nvidia-gridd.service"),
        nullptr);
}

TEST_F(VgpuLicence, WithoutTheTableTheTreeStaysAsItIs) {
    nvidia_->vgpu.reset();
    const std::size_t before = tree.entries.size();
    add_vgpu_licence(ctx, nvidia_, placed_, tree);
    add_vgpu_licence(ctx, std::nullopt, placed_, tree);
    add_numa_node(ctx, nvidia_, tree);
    add_numa_node(ctx, std::nullopt, tree);
    EXPECT_EQ(tree.entries.size(), before);
}

TEST_F(VgpuLicence, WhatIsMissingOrWrongIsSaid) {
    EXPECT_THAT(refusal(), AllOf(HasSubstr("nvidia-gridd.service"), HasSubstr("package-driver")));
    file("/usr/lib/systemd/system/nvidia-gridd.service", "");
    file("/etc/nvidia/gridd.conf", "FeatureType=1\n");
    placed_["/etc/nvidia/gridd.conf"] = {"overlay/etc/nvidia/gridd.conf", true};
    EXPECT_THAT(refusal(), AllOf(HasSubstr("[nvidia.vgpu] is written to /etc/nvidia/gridd.conf, "
                                           "which overlay/etc/nvidia/gridd.conf brings as well"),
                                 HasSubstr("give its keys in [nvidia.vgpu]")));
    file("/usr/lib/systemd/system/nvidia-vgpu-mgr.service", "");
    EXPECT_THAT(refusal(), AllOf(HasSubstr("nvidia-vgpu-mgr.service belongs to the driver of a "
                                           "host (vgpu-kvm)"),
                                 HasSubstr("package-driver")));
}

TEST_F(VgpuLicence, APackagesConfigurationIsReplacedWithAWord) {
    file("/usr/lib/systemd/system/nvidia-gridd.service", "");
    nvidia_->vgpu->feature_type = 4;
    nvidia_->vgpu->server_address = "licences.example";
    Console loud{Color::never, false};
    ctx.console = &loud;
    const auto said = [&](const std::string& packaged) {
        file("/etc/nvidia/gridd.conf", packaged, 0600);
        testing::internal::CaptureStderr();
        add_vgpu_licence(ctx, nvidia_, placed_, tree);
        EXPECT_EQ(read_entry(tree, "/etc/nvidia/gridd.conf"), gridd_conf_text(*nvidia_->vgpu));
        EXPECT_EQ(tree.entries.at("/etc/nvidia/gridd.conf").mode, 0644U);
        return testing::internal::GetCapturedStderr();
    };
    // As the vendor's example is: everything is a comment, empty, or in the blueprint.
    const std::string example =
        "# Description: set License Server Address\nServerAddress=\n\n"
        "#ServerPort=7070\nFeatureType=0\n";
    EXPECT_THAT(said(example),
                AllOf(HasSubstr("[nvidia.vgpu] replaces /etc/nvidia/gridd.conf, which a package "
                                "brings"),
                      Not(HasSubstr("warning"))));
    EXPECT_THAT(said(example + "ServerPort = 7071\nLingerInterval=10\n"),
                HasSubstr("it set LingerInterval=10, ServerPort=7071, which is not in "
                          "[nvidia.vgpu]: nvidia-gridd's default applies"));
    EXPECT_THAT(said("Lingering=\x1b[2J\n"), Not(HasSubstr("\x1b")));
    // A link is not written through.
    remove_entry(tree, "/etc/nvidia/gridd.conf");
    file("/etc/nvidia/gridd.conf.template", example);
    link("/etc/nvidia/gridd.conf", "gridd.conf.template");
    add_vgpu_licence(ctx, nvidia_, placed_, tree);
    EXPECT_EQ(tree.entries.at("/etc/nvidia/gridd.conf").type, EntryType::file);
    EXPECT_EQ(read_entry(tree, "/etc/nvidia/gridd.conf.template"), example);
}

TEST_F(VgpuLicence, ANumaNodeIsWrittenOnlyWhereThereIsNone) {
    nvidia_->numa_node = 1;
    add_numa_node(ctx, nvidia_, tree);
    EXPECT_THAT(read_entry(tree, "/usr/lib/udev/rules.d/70-edgegpu-numa-node.rules"),
                HasSubstr("ACTION==\"add\", SUBSYSTEM==\"pci\", ATTR{vendor}==\"0x10de\", "
                          "ATTR{class}==\"0x03*\", ATTR{numa_node}==\"-1\", "
                          "TEST==\"/sys/devices/system/node/node1\", ATTR{numa_node}=\"1\"\n"));
}

}  // namespace
}  // namespace edgegpu::test
