#include "repository/remote_config.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(RemoteConfigTest, SaysWhichRemotesVerify) {
    const auto verifies = [](const std::string& setting) {
        const std::vector<RemoteConfig> remotes =
            read_remotes("[remote \"edge\"]\nurl=https://example.com/repo\n" + setting);
        return remotes.size() == 1 && remotes.front().name == "edge" && remotes.front().verifies();
    };
    EXPECT_TRUE(verifies("")) << "ostree's default";
    EXPECT_TRUE(verifies("gpg-verify=true\n"));
    EXPECT_FALSE(verifies("gpg-verify=false\n"));
    EXPECT_FALSE(verifies("gpg-verify=perhaps\n")) << "an error of ostree's";
    EXPECT_TRUE(verifies("gpg-verify=false\nsign-verify=true\n"));
    EXPECT_TRUE(verifies("gpg-verify=false\nsign-verify=ed25519\n"));
    EXPECT_FALSE(verifies("gpg-verify=false\nsign-verify=false\n"));
    EXPECT_FALSE(verifies("gpg-verify=false\nsign-verify=0\n"));
}

TEST(RemoteConfigTest, HasAllRemotesAndTheirKeys) {
    const std::vector<RemoteConfig> remotes = read_remotes(
        "[core]\nmode=bare\n[remote \"\"]\n[remote \"a\"]\ngpgkeypath=/etc/a.gpg;/usr/b.gpg;\n"
        "[remote \"b\"]\nurl=x\n[remote c]\n");
    ASSERT_EQ(remotes.size(), 2U);
    EXPECT_EQ(remotes[0].name, "a");
    EXPECT_EQ(remotes[0].key_paths, (std::vector<std::string>{"/etc/a.gpg", "/usr/b.gpg"}));
    EXPECT_EQ(remotes[1].name, "b");
    EXPECT_TRUE(remotes[1].key_paths.empty());
    EXPECT_TRUE(read_remotes("no group\n").empty()) << "what ostree cannot read";
}

TEST(RemoteConfigTest, OneOfThoseThatDevicesFollowHasToStay) {
    const std::vector<RemoteConfig> both = read_remotes("[remote \"a\"]\n[remote \"b\"]\n");
    const std::vector<RemoteConfig> other = read_remotes("[remote \"c\"]\n");
    EXPECT_TRUE(keeps_a_remote(both, read_remotes("[remote \"b\"]\n")));
    EXPECT_TRUE(keeps_a_remote({}, other)) << "devices have one that the image does not bring";
    EXPECT_FALSE(keeps_a_remote(both, other));
    EXPECT_FALSE(keeps_a_remote(both, {}));
}

}  // namespace
}  // namespace edgegpu
