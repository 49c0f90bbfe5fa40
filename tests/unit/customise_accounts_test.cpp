#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compose/compose.hpp"
#include "customise/accounts/accounts.hpp"
#include "customise/accounts/user_homes.hpp"
#include "customise_fixture.hpp"
#include "image/account_files.hpp"

namespace edgegpu::test {
namespace {

class Accounts : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        UserRequest user;
        user.name = "admin";
        user.key = "ssh-ed25519 AAAA admin";
        user.groups = {"wheel"};
        user.location = {"b.toml", 7, 1};
        users.push_back(user);
    }
    std::vector<UserRequest> users;
    std::vector<GroupRequest> groups;
    ParentAccounts seeds;
};

TEST_F(Accounts, UserGetsLowestFreeNumberGroupAndShadowWithoutDate) {
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_NE(text("/etc/passwd").find("admin:x:1000:1000::/home/admin:/bin/bash\n"),
              std::string::npos);
    EXPECT_NE(text("/etc/group").find("wheel:x:10:admin\n"), std::string::npos);
    EXPECT_NE(text("/etc/group").find("admin:x:1000:\n"), std::string::npos);
    EXPECT_NE(text("/etc/gshadow").find("wheel:::admin\n"), std::string::npos);
    EXPECT_NE(text("/etc/shadow").find("admin:*::0:99999:7:::\n"), std::string::npos);
    EXPECT_EQ(text("/etc/subuid"), "admin:100000:65536\n");
    EXPECT_EQ(tree.entries.at("/etc/shadow").mode, 0U);
}

TEST_F(Accounts, HomeAndKeyReachTheDevice) {
    file("/etc/skel/.bashrc", "x");
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string lines = text("/usr/lib/tmpfiles.d/edgegpu-users.conf");
    EXPECT_NE(lines.find("d /var/home/admin 0700 admin admin -\n"), std::string::npos);
    EXPECT_NE(lines.find("C /var/home/admin/.bashrc 0644 admin admin - /etc/skel/.bashrc\n"),
              std::string::npos);
    EXPECT_NE(lines.find("d /var/home/admin/.ssh 0700 admin admin -\n"), std::string::npos);
    add_keys(ctx, users, tree);
    EXPECT_EQ(text("/usr/share/edgegpu/authorized_keys.d/admin"), "ssh-ed25519 AAAA admin\n");
}

TEST_F(Accounts, HomesWithBlanksAreQuoted) {
    file("/etc/skel/read me", "x");
    users[0].home = "/home/ad min%b";
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string lines = text("/usr/lib/tmpfiles.d/edgegpu-users.conf");
    for (const char* line :
         {"d \"/var/home/ad min%%b\" 0700 admin admin -\n",
          "C \"/var/home/ad min%%b/read me\" 0644 admin admin - /etc/skel/read\\x20me\n",
          "d \"/var/home/ad min%%b/.ssh\" 0700 admin admin -\n"}) {
        EXPECT_NE(lines.find(line), std::string::npos) << lines;
    }
    users[0].name = "second";
    users[0].home = "/home/second";
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_EQ(text("/usr/lib/tmpfiles.d/edgegpu-users.conf").find(lines), 0U);
}

TEST_F(Accounts, HomesOfAParentsUsersStay) {
    file("/etc/skel/.bashrc", "x");
    file("/etc/ssh/sshd_config", "AuthorizedKeysFile none\n");
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string homes = text("/usr/lib/tmpfiles.d/edgegpu-users.conf");
    users[0].name = "second";
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string both = text("/usr/lib/tmpfiles.d/edgegpu-users.conf");
    EXPECT_EQ(both.find(homes), 0U) << both;
    EXPECT_NE(both.find("C /var/home/second/.bashrc"), std::string::npos);
    add_keys(ctx, users, tree);
    EXPECT_EQ(text("/etc/ssh/sshd_config"),
              "AuthorizedKeysFile /usr/share/edgegpu/authorized_keys.d/%u\n");
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_EQ(text("/usr/lib/tmpfiles.d/edgegpu-users.conf"), both);
}

TEST_F(Accounts, SshdReadsKeysOfTheImage) {
    file("/etc/ssh/sshd_config", "AuthorizedKeysFile none\n");
    add_keys(ctx, users, tree);
    EXPECT_EQ(text("/etc/ssh/sshd_config"),
              "AuthorizedKeysFile /usr/share/edgegpu/authorized_keys.d/%u\n");
}

TEST_F(Accounts, ExpiryAndForcedChangeStandInShadow) {
    users[0].password = "$6$salt$hash";
    users[0].expire_date = 20000;
    users[0].force_password_reset = true;
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_NE(text("/etc/shadow").find("admin:$6$salt$hash:0:0:99999:7::20000:\n"),
              std::string::npos);
}

TEST_F(Accounts, NumbersOfTheParentStayAndThoseOfTheGoneAreNotReused) {
    seeds.passwd = "old:x:1000:1000::/home/old:/bin/sh\nadmin:x:1005:1006::/home/admin:/bin/sh\n";
    seeds.group = "old:x:1000:\nadmin:x:1006:\n";
    UserRequest fresh;
    fresh.name = "fresh";
    users.insert(users.begin(), fresh);
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string passwd = text("/etc/passwd");
    EXPECT_NE(passwd.find("admin:x:1005:1006:"), std::string::npos) << passwd;
    EXPECT_NE(passwd.find("fresh:x:1001:1001:"), std::string::npos) << passwd;
}

TEST_F(Accounts, AreDeclaredForDevicesWithAHistory) {
    for (const char* program : {"/usr/sbin/useradd", "/usr/sbin/usermod", "/usr/sbin/groupadd",
                                "/usr/sbin/pwconv", "/usr/bin/grep"}) {
        file(program, "", 0755);
    }
    file("/usr/lib/systemd/system/sysinit.target", "");
    groups.push_back({"gpu", 2000, {"b.toml", 3, 1}});
    users[0].description = "The operator";
    users[0].groups = {"wheel", "gpu"};
    users[0].expire_date = 20000;
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/accounts/groups"), "gpu:2000:fixed\nadmin:1000:free\n");
    EXPECT_EQ(text("/usr/lib/edgegpu/accounts/users"),
              "admin:1000:free:admin:/home/admin:/bin/bash:20000::100000:100000:wheel,gpu:"
              "The operator\n");
    EXPECT_EQ(text("/usr/lib/edgegpu/accounts/passwords"), "admin:*\n");
    EXPECT_EQ(tree.entries.at("/usr/lib/edgegpu/accounts/passwords").mode, 0600U);
    EXPECT_EQ(tree.entries.at("/usr/libexec/edgegpu/accounts").mode, 0755U);
    EXPECT_EQ(
        tree.entries.at("/usr/lib/systemd/system/sysinit.target.wants/edgegpu-accounts.service")
            .target,
        "../edgegpu-accounts.service");
}

TEST_F(Accounts, ExistingUserIsChangedNotAddedTwice) {
    add_accounts(ctx, users, groups, seeds, tree);
    users[0].description = "Admin";
    add_accounts(ctx, users, groups, seeds, tree);
    const std::string passwd = text("/etc/passwd");
    EXPECT_NE(passwd.find("admin:x:1000:1000:Admin:"), std::string::npos);
    EXPECT_EQ(passwd.find("admin:"), passwd.rfind("\nadmin:") + 1);
    EXPECT_NE(text("/etc/group").find("wheel:x:10:admin\n"), std::string::npos);
}

TEST_F(Accounts, ErrorsNameTheLine) {
    users[0].groups = {"wheell"};
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:7:1: the image has no group 'wheell' for user 'admin'|"
              "did you mean 'wheel'?");
    users[0].groups = {"wheell", "docker"};
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:7:1: the image has no group 'wheell' for user 'admin'\n"
              "hint: did you mean 'wheel'?\n"
              "error: b.toml:7:1: the image has no group 'docker' for user 'admin'|"
              "add the package that creates it, or create it: [[customizations.group]] with name = "
              "\"docker\"");
    users[0].groups.clear();
    users[0].uid = 990;
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:7:1: uid 990 of user 'admin' is taken by user 'chrony'|");
    users[0].uid.reset();
    users[0].description = "a:b";
    EXPECT_NE(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }).find("a colon"),
              std::string::npos);
}

TEST_F(Accounts, TheLastNumberOfLoginDefsIsUsed) {
    std::string passwd = text("/etc/passwd");
    for (std::uint32_t id = first_user_id; id < last_user_id; ++id) {
        passwd += fmt::format("u{0}:x:{0}:10::/:/bin/sh\n", id);
    }
    file("/etc/passwd", passwd);
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_NE(text("/etc/passwd").find("\nadmin:x:60000:60000:"), std::string::npos);
    users[0].name = "late";
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "no free user number between 1000 and 60000|");
}

TEST_F(Accounts, GroupNumbersMustNotClash) {
    users.clear();
    groups.push_back({"gpu", 991, {"b.toml", 3, 1}});
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:3:1: gid 991 of group 'gpu' is taken by group 'chrony'|");
    groups[0].gid = 2000;
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_NE(text("/etc/group").find("gpu:x:2000:\n"), std::string::npos);
}

TEST_F(Accounts, AUsersGroupHasOneNumber) {
    groups = {{"admin", 2000, {"b.toml", 3, 1}}};
    users[0].gid = 3000;
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:7:1: group 'admin' exists with gid 2000, not 3000|");
    users[0].gid = 2000;
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_NE(text("/etc/passwd").find(":2000:"), std::string::npos);
}

TEST_F(Accounts, AHomeThatNobodyMakesIsSaid) {
    users[0].home = "/data/admin";
    users[0].password = "x";
    add_accounts(ctx, users, groups, seeds, tree);
    EXPECT_TRUE(std::ranges::any_of(console.warnings(), [](const std::string& warning) {
        return warning.starts_with("b.toml:7:1: nobody makes /data/admin, the home directory");
    }));
}

TEST_F(Accounts, AShellIsAProgram) {
    users[0].shell = "/etc/passwd";
    EXPECT_EQ(error_of([&] { add_accounts(ctx, users, groups, seeds, tree); }),
              "b.toml:7:1: '/etc/passwd', the shell of user 'admin', is no program|name a program, "
              "or omit 'shell'");
}

}  // namespace
}  // namespace edgegpu::test
