// The logins of `edgegpu test`, with OpenSSH's own programs. They refuse a user without a name,
// which the unit tests have.

#include "machine/rehearsal/ssh_login.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/commit_fixture.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

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
    // ssh would take these for two files, and %z for something to fill in.
    const std::filesystem::path place = directory.path() / "two words %z";
    std::filesystem::create_directory(place);
    const TestCredential credential(ctx, place, {user});
    const CheckResult result = credential.log_in(ctx, user, free_port());
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "operator cannot log in over SSH (status 255)");
    EXPECT_THAT(result.details, testing::ElementsAre(HasSubstr("Connection refused")));
}

}  // namespace
}  // namespace edgegpu
