#include "blueprint/parse/device_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/parse/contradictions.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class DeviceCheck : public testing::Test {
protected:
    /// The first mistake, or empty.
    std::string check() {
        Mistakes mistakes;
        check_device(blueprint_, 86400L * 20000, mistakes, warnings_);
        try {
            mistakes.throw_any("");
        } catch (const Error& failure) {
            return failure.message();
        }
        return {};
    }
    UserRequest& user() {
        blueprint_.users.emplace_back().name = "admin";
        blueprint_.users.back().location = {"b.toml", 5, 1};
        return blueprint_.users.back();
    }

    Blueprint blueprint_;
    std::vector<std::string> warnings_;
};

TEST_F(DeviceCheck, AFileThatAKeyWritesTooIsRefused) {
    FileRequest& file = blueprint_.files.emplace_back();
    file.path = "/etc/hostname";
    file.location = {"b.toml", 9, 1};
    EXPECT_EQ(check(), "");
    blueprint_.hostname = "edge";
    EXPECT_THAT(check(), HasSubstr("b.toml:9:1: /etc/hostname is also written by "
                                   "customizations.hostname"));
    file.path = "/etc/chrony.conf";
    EXPECT_EQ(check(), "");
    blueprint_.timezone.ntp_servers = {"time.example"};
    EXPECT_THAT(check(), HasSubstr("also written by customizations.timezone.ntpservers"));
}

TEST_F(DeviceCheck, ADirectoryThatNoDeviceHasIsRefused) {
    FileRequest& file = blueprint_.files.emplace_back();
    file.location = {"b.toml", 9, 1};
    for (const char* path : {"/etc/x", "/opt/x/y", "/lib/x", "/usr", "/mnt/x", "/home"}) {
        file.path = path;
        EXPECT_EQ(check(), "") << path;
    }
    file.path = "/data";
    EXPECT_EQ(check(), "b.toml:9:1: an image cannot carry /data: a device has no /data");
    file.path = "/data/x";
    EXPECT_EQ(check(), "b.toml:9:1: an image cannot carry /data/x: a device has no /data");
    blueprint_.image.volumes.emplace_back().mounts = {{"/data", ""}};
    EXPECT_EQ(check(), "");
}

TEST_F(DeviceCheck, HashesAreThoseThatTheDistributionKnows) {
    user().password = "$y$j9T$salt$hash";
    for (const char* knows : {"rhel-9.4", "rhel-10.0", "fedora-38", "lab-8"}) {
        blueprint_.distro = knows;
        EXPECT_EQ(check(), "") << knows;
    }
    for (const char* older : {"rhel-8.10", "centos-8", "rhel-8"}) {
        blueprint_.distro = older;
        EXPECT_THAT(check(), HasSubstr("b.toml:5:1: the password of user \"admin\" has a hash"))
            << older;
    }
    blueprint_.users.front().password = "$6$salt$hash";
    EXPECT_EQ(check(), "");
}

TEST_F(DeviceCheck, AnAccountThatHasExpiredIsSaid) {
    user().expire_date = 20001;
    EXPECT_EQ(check(), "");
    EXPECT_THAT(warnings_, IsEmpty());
    blueprint_.users.front().expire_date = 20000;
    EXPECT_EQ(check(), "");
    EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr("user \"admin\" has expired")));
}

class Contradictions : public DeviceCheck {
protected:
    /// The first mistake, or empty.
    std::string contradiction() {
        Mistakes mistakes;
        warnings_.clear();
        check_contradictions(blueprint_, mistakes, warnings_);
        try {
            mistakes.throw_any("");
        } catch (const Error& failure) {
            return failure.message();
        }
        return {};
    }
};

TEST_F(Contradictions, ARequiredMigModeIsTheOneThatTheImageSets) {
    GpuHealthRequest& health = blueprint_.gpu_health.emplace();
    health.location = {"b.toml", 9, 1};
    NvidiaRequest& nvidia = blueprint_.nvidia.emplace();
    EXPECT_EQ(contradiction(), "");
    health.require.mig = true;
    EXPECT_EQ(contradiction(), "");
    EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr(
                               "b.toml:9:1: require.mig: nothing in the image switches MIG mode of "
                               "GPUs on")));
    nvidia.devices = {"10de:2335", "10de:1eb8"};
    nvidia.mig = {{"10de:1eb8", {}, {"b.toml", 3, 1}}};
    EXPECT_EQ(contradiction(), "");
    EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr("MIG mode of 10de:2335 on")))
        << "a T4 has no MIG";
    nvidia.mig.push_back({"10de:2335", {"1g.18gb"}, {"b.toml", 4, 1}});
    EXPECT_EQ(contradiction(), "");
    EXPECT_THAT(warnings_, IsEmpty());
    health.require.mig = false;
    EXPECT_THAT(contradiction(),
                HasSubstr("b.toml:9:1: require.mig = false, but [nvidia.mig] switches MIG mode of "
                          "10de:2335 on (b.toml:4:1)"));
    nvidia.mig = {{"", {}, {"b.toml", 5, 1}}};
    EXPECT_EQ(contradiction(), "");
    health.require.mig = true;
    EXPECT_THAT(contradiction(), HasSubstr("switches MIG mode of 10de:2335 off (b.toml:5:1)"));
    health.devices = {"10de:1eb8"};
    EXPECT_EQ(contradiction(), "");
}

TEST_F(Contradictions, AMaskedUnitWithoutWhichAKeyDoesNothing) {
    blueprint_.services.masked = {"chronyd", "firewalld.service", "edgegpu-accounts.service"};
    blueprint_.services.locations["chronyd"] = {"b.toml", 4, 1};
    EXPECT_EQ(contradiction(), "");
    EXPECT_THAT(warnings_,
                testing::ElementsAre(HasSubstr("edgegpu-accounts.service is edgegpu's own")));
    blueprint_.timezone.ntp_servers = {"time.example"};
    EXPECT_EQ(contradiction(),
              "b.toml:4:1: chronyd.service is masked, but customizations.timezone.ntpservers is "
              "set: nothing asks these servers for the time");
    blueprint_.services.masked.erase(blueprint_.services.masked.begin());
    EXPECT_EQ(contradiction(), "");
    blueprint_.firewall.emplace();
    EXPECT_EQ(contradiction(), "") << "it asks for nothing";
    blueprint_.firewall->ports = {"6443:tcp"};
    EXPECT_THAT(contradiction(), HasSubstr("firewalld.service is masked"));
    blueprint_.services.masked = {};
    blueprint_.services.disabled = {"firewalld"};
    EXPECT_EQ(contradiction(), "");
    EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr(
                               "firewalld.service is disabled, but customizations.firewall is set: "
                               "none of its rules is set, unless something else starts it")));
    UnitRequest& unit = blueprint_.systemd.units.emplace_back();
    unit.name = "edgegpu-firstboot.service";
    unit.state = UnitState::masked;
    unit.location = {"b.toml", 7, 1};
    blueprint_.firstboot.emplace_back();
    EXPECT_EQ(contradiction(),
              "b.toml:7:1: edgegpu-firstboot.service is masked, but customizations.firstboot is "
              "set: none of the scripts runs");
}

}  // namespace
}  // namespace edgegpu
