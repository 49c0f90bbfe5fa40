#include "customise/configuration_check.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

const PlacedPaths& placed_files() {
    static const PlacedPaths files{
        {"/etc/sudoers.d/admins", {"overlay/etc/sudoers.d/admins", false}},
        {"/etc/sudoers.d/admins-more", {"blueprint.toml:7:1", false}},
    };
    return files;
}

using Findings = std::vector<std::string>;

TEST(ConfigurationCheck, LinesThatNameAFileBeginWithTheUsersPlace) {
    EXPECT_EQ(findings_about("/etc/sudoers.d/admins:2:25: syntax error\n"
                             "admin ALL=(ALL) NOPASSWD ALL\n"
                             "                         ^~~\n",
                             placed_files()),
              Findings{"overlay/etc/sudoers.d/admins:2:25: syntax error"});
    // sudo 1.8 of Enterprise Linux 8
    EXPECT_EQ(findings_about(">>> /etc/sudoers.d/admins-more: syntax error near line 3 <<<\n"
                             "parse error in /etc/sudoers.d/admins-more near line 3\n",
                             placed_files()),
              (Findings{"blueprint.toml:7:1: >>> /etc/sudoers.d/admins-more: syntax error near "
                        "line 3 <<<",
                        "blueprint.toml:7:1: parse error in /etc/sudoers.d/admins-more near line "
                        "3"}));
}

TEST(ConfigurationCheck, OtherFilesAndGoodOnesAreNoFindings) {
    EXPECT_EQ(findings_about("/etc/sudoers: parsed OK\n"
                             "/etc/sudoers.d/admins: parsed OK\n"
                             "/etc/sudoers.d/other:1:1: syntax error\n",
                             placed_files()),
              Findings{});
    EXPECT_EQ(findings_about("", placed_files()), Findings{});
}

TEST(ConfigurationCheck, TheReasonOfSshdIsEnough) {
    const PlacedPaths files{{"/etc/ssh/sshd_config.d/5.conf", {"5.conf", false}}};
    EXPECT_EQ(findings_about("/etc/ssh/sshd_config.d/5.conf: line 2: Bad configuration option: X\n"
                             "/etc/ssh/sshd_config.d/5.conf: terminating, 1 bad configuration "
                             "options\n",
                             files),
              Findings{"5.conf: line 2: Bad configuration option: X"});
}

TEST(ConfigurationCheck, TheMessageOfALoggedLineIsEnough) {
    const PlacedPaths files{{"/etc/containers/policy.json", {"b.toml:7:1", false}}};
    EXPECT_EQ(
        findings_about("time=\"2026-01-01T00:00:00Z\" level=fatal msg=\"Error loading trust "
                       "policy: invalid policy in \\\"/etc/containers/policy.json\\\": unknown "
                       "\\\"x\\\"\"\n",
                       files),
        Findings{"b.toml:7:1: Error loading trust policy: invalid policy in "
                 "\"/etc/containers/policy.json\": unknown \"x\""});
    EXPECT_EQ(findings_about("time=\" /etc/containers/policy.json\n", files),
              Findings{"b.toml:7:1: time=\" /etc/containers/policy.json"});
}

}  // namespace
}  // namespace edgegpu
