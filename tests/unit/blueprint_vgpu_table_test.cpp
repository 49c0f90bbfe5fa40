#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class VgpuTableTest : public BlueprintTest {
protected:
    static std::string nvidia(const std::string& text) {
        return "distro = \"lab-12\"\n[nvidia]\ndriver = \"570\"\n" + text;
    }
    [[nodiscard]] VgpuRequest read(const std::string& keys) const {
        return parse(nvidia("[nvidia.vgpu]\n" + keys)).nvidia->vgpu.value();
    }
    [[nodiscard]] std::string mistakes(const std::string& keys) const {
        return failure(nvidia("[nvidia.vgpu]\n" + keys));
    }
};

TEST_F(VgpuTableTest, EveryKeyOfGriddConf) {
    EXPECT_FALSE(parse(nvidia("")).nvidia->vgpu);
    EXPECT_TRUE(read("").needs_token());
    const VgpuRequest legacy = read(
        "ServerAddress = \"a.example\"\nServerPort = 7070\n"
        "BackupServerAddress = \"fd00::7\"\nBackupServerPort = 7071\n");
    EXPECT_EQ(legacy.server_address, "a.example");
    EXPECT_EQ(legacy.server_port, 7070U);
    EXPECT_EQ(legacy.backup_server_address, "fd00::7");
    EXPECT_EQ(legacy.backup_server_port, 7071U);
    EXPECT_FALSE(legacy.needs_token());
    const VgpuRequest token = read(
        "FeatureType = 4\nEnableUI = false\nLicenseInterval = 10\nLingerInterval = 0\n"
        "ClientConfigTokenPath = \"/var/lib/tokens\"\n");
    EXPECT_EQ(token.feature_type, 4U);
    EXPECT_EQ(token.enable_ui, false);
    EXPECT_EQ(token.license_interval, 10U);
    EXPECT_EQ(token.linger_interval, 0U);
    EXPECT_EQ(token.token_directory, "/var/lib/tokens");
    EXPECT_TRUE(token.needs_token());
    EXPECT_FALSE(read("FeatureType = 0\n").needs_token());
}

TEST_F(VgpuTableTest, Limits) {
    for (const char* good :
         {"LicenseInterval = 10080\n", "LingerInterval = 10080\n", "FeatureType = 2\n"}) {
        EXPECT_EQ(mistakes(good), "no error") << good;
    }
    for (const char* bad :
         {"LicenseInterval = 9\n", "LicenseInterval = 10081\n", "LingerInterval = -1\n",
          "LingerInterval = 10081\n", "FeatureType = 5\n", "FeatureType = -1\n",
          "FeatureType = 3\n", "FeatureType = \"4\"\n", "EnableUI = \"TRUE\"\n", "EnableUI = 1\n",
          "ServerAddress = \"a\"\nServerPort = 0\n",
          "ServerAddress = \"a\"\nServerPort = 65536\n"}) {
        EXPECT_THAT(mistakes(bad), HasSubstr("nvidia.vgpu.")) << bad;
    }
    EXPECT_THAT(mistakes("FeatureType = 3\n"), HasSubstr("b.toml:5:15:"));
    EXPECT_THAT(mistakes("serverAddress = \"a\"\n"), HasSubstr("unknown key"));
}

TEST_F(VgpuTableTest, WhatContradictsItselfIsAMistake) {
    EXPECT_THAT(mistakes("ServerPort = 7070\n"), HasSubstr("without ServerAddress"));
    EXPECT_THAT(mistakes("ServerAddress = \"a\"\nBackupServerPort = 1\n"),
                HasSubstr("without BackupServerAddress"));
    EXPECT_THAT(mistakes("BackupServerAddress = \"b\"\n"), HasSubstr("without ServerAddress"));
    EXPECT_THAT(mistakes("ServerAddress = \"https://a\"\n"), HasSubstr("without a scheme"));
    EXPECT_THAT(mistakes("ServerAddress = \"a b\"\n"), HasSubstr("a host name or an address"));
    EXPECT_THAT(mistakes("ServerAddress = \"a\"\nClientConfigTokenPath = \"/etc/t\"\n"),
                HasSubstr("no token is used with ServerAddress"));
    EXPECT_THAT(mistakes("FeatureType = 0\nClientConfigTokenPath = \"/etc/t\"\n"),
                HasSubstr("no token is used with FeatureType = 0"));
    EXPECT_THAT(mistakes("ClientConfigTokenPath = \"/usr/share/t\"\n"),
                HasSubstr("neither in /etc nor in /var"));
    for (const char* path : {"etc/t", "/etc/../usr/t", "/etc/a b", "/etc/%t", "/etc/t*"}) {
        EXPECT_THAT(mistakes(std::string("ClientConfigTokenPath = \"") + path + "\"\n"),
                    HasSubstr("nvidia.vgpu.ClientConfigTokenPath"))
            << path;
    }
}

TEST_F(VgpuTableTest, ANumaNodeIsTakenAndItsTaintIsSaid) {
    EXPECT_FALSE(parse(nvidia("")).nvidia->numa_node);
    const Blueprint blueprint = parse(nvidia("numa_node = 0\n"));
    EXPECT_EQ(blueprint.nvidia->numa_node, 0U);
    EXPECT_THAT(blueprint.notes,
                Contains(AllOf(HasSubstr("b.toml:4:13: "), HasSubstr("taints their kernel"),
                               HasSubstr("edgegpu image --domain"))));
    EXPECT_THAT(failure(nvidia("numa_node = -1\n")), HasSubstr("nvidia.numa_node"));
    EXPECT_THAT(failure(nvidia("numa_node = 1024\n")), HasSubstr("nvidia.numa_node"));
}

}  // namespace
}  // namespace edgegpu
