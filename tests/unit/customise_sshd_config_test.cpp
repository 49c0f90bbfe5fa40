#include <gtest/gtest.h>

#include "customise/accounts/sshd_config.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

constexpr const char* sshd_config = "/etc/ssh/sshd_config";
constexpr const char* drop_in = "/etc/ssh/sshd_config.d/20-edgegpu.conf";
constexpr const char* includes = "Include /etc/ssh/sshd_config.d/*.conf\n";
constexpr const char* comment = "# Keys of the blueprint's users come with the image.\n";

class SshdConfig : public TreeTest {
protected:
    void add() { add_authorized_keys_file(ctx, "/k/%u", tree); }
    [[nodiscard]] bool has(const char* path) const { return tree.entries.contains(path); }
    [[nodiscard]] std::string own() const {
        const std::string content = text(drop_in);
        EXPECT_TRUE(content.starts_with(comment)) << content;
        return content.substr(std::string(comment).size());
    }
};

TEST_F(SshdConfig, ADropInBeforeTheFirstValueKeepsIt) {
    const std::string config = std::string(includes) +
                               "#AuthorizedKeysFile x\n"
                               "authorizedkeysfile = .ssh/authorized_keys /etc/keys/%u\n";
    file(sshd_config, config, 0600);
    add();
    EXPECT_EQ(own(), "AuthorizedKeysFile .ssh/authorized_keys /etc/keys/%u /k/%u\n");
    EXPECT_EQ(text(sshd_config), config);
}

TEST_F(SshdConfig, WithoutDropInsItIsChangedItself) {
    file(sshd_config, "Port 22\nAuthorizedKeysFile\t.ssh/authorized_keys\nMatch User x\n", 0600);
    add();
    EXPECT_EQ(text(sshd_config),
              "Port 22\nAuthorizedKeysFile .ssh/authorized_keys /k/%u\nMatch User x\n");
    EXPECT_EQ(tree.entries.at(sshd_config).mode, 0600U);
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, AnEarlierDropInWithAValueIsChanged) {
    file(sshd_config, includes);
    file("/etc/ssh/sshd_config.d/10-keys.conf", "Port 22\nAuthorizedKeysFile /etc/keys/%u\n", 0600);
    add();
    EXPECT_EQ(text("/etc/ssh/sshd_config.d/10-keys.conf"),
              "Port 22\nAuthorizedKeysFile /etc/keys/%u /k/%u\n");
    EXPECT_EQ(tree.entries.at("/etc/ssh/sshd_config.d/10-keys.conf").mode, 0600U);
    EXPECT_EQ(text(sshd_config), includes);
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, ALaterDropInsValueStaysInOurs) {
    file(sshd_config, std::string(includes) + "AuthorizedKeysFile /main/%u\n");
    file("/etc/ssh/sshd_config.d/50-vendor.conf", "AuthorizedKeysFile /vendor/%u\n");
    add();
    EXPECT_EQ(own(), "AuthorizedKeysFile /vendor/%u /k/%u\n");
}

TEST_F(SshdConfig, AValueBeforeTheIncludeIsTheFirst) {
    file(sshd_config, std::string("AuthorizedKeysFile /main/%u\n") + includes);
    add();
    EXPECT_EQ(text(sshd_config), std::string("AuthorizedKeysFile /main/%u /k/%u\n") + includes);
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, WhatIsForSomeUsersOrNotReadDoesNotCount) {
    file(sshd_config, std::string(includes) + "Match User a\nAuthorizedKeysFile none\n");
    file("/etc/ssh/sshd_config.d/10-match.conf", "Match User b\nAuthorizedKeysFile none\n");
    file("/etc/ssh/sshd_config.d/11-keys.conf.rpmsave", "AuthorizedKeysFile none\n");
    file("/etc/ssh/sshd_config.d/.hidden.conf", "AuthorizedKeysFile none\n");
    directory("/etc/ssh/sshd_config.d/12-directory.conf");
    link("/etc/ssh/sshd_config.d/13-dangling.conf", "nowhere");
    add();
    EXPECT_EQ(own(), "AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k/%u\n");
}

TEST_F(SshdConfig, AnIncludeForSomeUsersIsNone) {
    file(sshd_config, std::string("Port 22\nMatch User a\n") + includes);
    add();
    EXPECT_EQ(text(sshd_config), std::string("Port 22\nAuthorizedKeysFile .ssh/authorized_keys "
                                             ".ssh/authorized_keys2 /k/%u\nMatch User a\n") +
                                     includes);
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, IncludedFilesIncludeOthersByLinkAndRelativePath) {
    file(sshd_config, "Include \"sshd_config.d/*.conf\"\n");
    file("/etc/ssh/sshd_config.d/10-a.conf",
         "Include more/none /etc/crypto/opensshserver.config\n");
    link("/etc/crypto/opensshserver.config", "../../usr/share/sshd");
    file("/usr/share/sshd", "AuthorizedKeysFile /linked/%u\n");
    add();
    EXPECT_EQ(text("/usr/share/sshd"), "AuthorizedKeysFile /linked/%u /k/%u\n");
    EXPECT_EQ(tree.entries.at("/etc/crypto/opensshserver.config").type, EntryType::symlink);
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, OtherPatternsDoNotReachOurDropIn) {
    file(sshd_config, "Include /etc/ssh/sshd_config.d/local-*.conf\n");
    add();
    EXPECT_EQ(text(sshd_config),
              "Include /etc/ssh/sshd_config.d/local-*.conf\n"
              "AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k/%u\n");
    EXPECT_FALSE(has(drop_in));
}

TEST_F(SshdConfig, FilesThatIncludeEachOtherEnd) {
    file(sshd_config, includes);
    for (int i = 10; i < 40; ++i) {
        file("/etc/ssh/sshd_config.d/" + std::to_string(i) + ".conf", includes);
    }
    add();
    EXPECT_EQ(own(), "AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k/%u\n");
}

TEST_F(SshdConfig, WithoutSshdNothingIsWritten) {
    add();
    EXPECT_FALSE(has(drop_in));
    EXPECT_FALSE(has(sshd_config));
}

TEST(AuthorizedKeysFile, IsSetForEverybodyAndNotForOneMatch) {
    EXPECT_EQ(with_authorized_keys("Port 22\nMatch User a\n  AuthorizedKeysFile none\n", "/k/%u"),
              "Port 22\nAuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k/%u\n"
              "Match User a\n  AuthorizedKeysFile none\n");
    EXPECT_EQ(with_authorized_keys("AuthorizedKeysFile none\n", "/k/%u"),
              "AuthorizedKeysFile /k/%u\n");
    EXPECT_EQ(with_authorized_keys("", "/k"),
              "AuthorizedKeysFile .ssh/authorized_keys .ssh/authorized_keys2 /k\n");
}

}  // namespace
}  // namespace edgegpu::test
