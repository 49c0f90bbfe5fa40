#include "customise/accounts/sshd_settings.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

constexpr const char* keys = "/k/%u";

std::string refusal(const std::string& more, const std::string& user = "op") {
    const auto users = read_sshd_settings("user " + user +
                                          "\nport 22\npubkeyauthentication yes\n"
                                          "authorizedkeysfile .ssh/authorized_keys /k/%u\n" +
                                          more);
    return sshd_refusal(users.at(user), user, {"op", "wheel"}, keys);
}

TEST(SshdSettings, WhoeverNothingRefusesGetsIn) {
    EXPECT_EQ(refusal(""), "");
    EXPECT_EQ(refusal("allowusers root\nallowusers o?\n"), "");
    EXPECT_EQ(refusal("allowusers op@192.0.2.0/24\n"), "") << "from somewhere";
    EXPECT_EQ(refusal("denyusers op@192.0.2.0/24\n"), "") << "from elsewhere";
    EXPECT_EQ(refusal("allowgroups wheel adm\n"), "");
    EXPECT_EQ(refusal("denygroups adm\n"), "");
    EXPECT_EQ(refusal("permitrootlogin no\n"), "") << "is for root alone";
    EXPECT_EQ(refusal("permitrootlogin without-password\n", "root"), "");
}

TEST(SshdSettings, WhoIsRefusedAndWhy) {
    EXPECT_EQ(refusal("denyusers a op\n"), "is refused by sshd (denyusers op)");
    EXPECT_EQ(refusal("allowusers admin\n"),
              "is not among those that sshd lets in (allowusers admin)");
    EXPECT_EQ(refusal("denygroups whee*\n"), "is refused by sshd (denygroups whee*)");
    EXPECT_EQ(refusal("allowgroups admins\n"),
              "is not among those that sshd lets in (allowgroups admins)");
    EXPECT_EQ(refusal("permitrootlogin no\n", "root"), "is refused by sshd (PermitRootLogin no)");
}

TEST(SshdSettings, KeysHaveToBeTakenAndLookedFor) {
    const auto users = read_sshd_settings(
        "noise\nuser a\npubkeyauthentication no\nuser b\npubkeyauthentication yes\n"
        "authorizedkeysfile none\n");
    EXPECT_EQ(users.size(), 2U);
    EXPECT_EQ(sshd_refusal(users.at("a"), "a", {}, keys),
              "has a key, and sshd takes none (PubkeyAuthentication no)");
    for (const char* other : {"authorizedkeyscommand /usr/bin/sss_ssh_authorizedkeys",
                              "trustedusercakeys /etc/ssh/ca.pub"}) {
        const auto by_others =
            read_sshd_settings(std::string("user c\nauthorizedkeysfile none\n") + other + '\n');
        EXPECT_EQ(sshd_refusal(by_others.at("c"), "c", {}, keys), "") << other;
    }
    EXPECT_EQ(sshd_refusal(users.at("b"), "b", {}, keys),
              "has a key that sshd does not look for (AuthorizedKeysFile none)");
}

}  // namespace
}  // namespace edgegpu
