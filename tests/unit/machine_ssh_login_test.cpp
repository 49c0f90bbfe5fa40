#include "machine/rehearsal/ssh_login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

CommitFacts facts_with(const std::string& sshd_config) {
    CommitFacts facts;
    facts.sshd_config = sshd_config;
    return facts;
}

TEST(SshLogin, ADropInIsUsedWhereSshdReadsThem) {
    const Injection injection =
        trust_authority(facts_with("# x\nInclude /etc/ssh/sshd_config.d/*.conf\nPort 22\n"), "ca");
    ASSERT_EQ(injection.size(), 2U);
    EXPECT_EQ(injection[0].content, "ca\n");
    EXPECT_EQ(injection[1].path, "/etc/ssh/sshd_config.d/00-edgegpu-test.conf");
    EXPECT_THAT(injection[1].content, HasSubstr("TrustedUserCAKeys " + injection[0].path));
}

TEST(SshLogin, WithoutDropInsTheImagesSettingsStay) {
    const std::string config = "#Include /etc/ssh/sshd_config.d/*.conf\nPort 22\nMatch User x\n";
    const Injection injection = trust_authority(facts_with(config), "ca");
    ASSERT_EQ(injection.size(), 2U);
    EXPECT_EQ(injection[1].path, "/etc/ssh/sshd_config");
    EXPECT_THAT(injection[1].content, StartsWith("TrustedUserCAKeys "));
    EXPECT_TRUE(injection[1].content.ends_with(config));
}

TEST(SshLogin, WithoutSshdNothingIsTrusted) {
    EXPECT_THAT(trust_authority(CommitFacts{}, "ca"), IsEmpty());
}

}  // namespace
}  // namespace edgegpu
