#include "machine/rehearsal/ssh_login.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/rpm_fixture.hpp"

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

TEST(SshLogin, TheCertificateIsForTheUsersAndADay) {
    const test::TemporaryDirectory directory;
    const Context ctx;
    const TestCredential credential(
        ctx, directory.path(), {{"operator", "/bin/bash", {"AAAA"}}, {"second", "", {"AAAA"}}});
    EXPECT_THAT(credential.authority(), StartsWith("ssh-ed25519 AAAA"));
    const std::string said =
        test::output_of("ssh-keygen -L -f " + (directory.path() / "key-cert.pub").string());
    EXPECT_THAT(said, HasSubstr("operator"));
    EXPECT_THAT(said, HasSubstr("second"));
    EXPECT_THAT(said, HasSubstr("user certificate"));
}

TEST(SshLogin, NobodyThereIsAFailureThatSaysSo) {
    const test::TemporaryDirectory directory;
    const Context ctx;
    const KeyedUser user{"operator", "/bin/bash", {"AAAA"}};
    const TestCredential credential(ctx, directory.path(), {user});
    const CheckResult result = credential.log_in(ctx, user, free_port());
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "operator cannot log in over SSH (status 255)");
    EXPECT_THAT(result.details, testing::Contains(HasSubstr("Connection refused")));
}

}  // namespace
}  // namespace edgegpu
