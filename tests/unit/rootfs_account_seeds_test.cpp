#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "image/account_files.hpp"
#include "rootfs/account_seeds.hpp"

namespace edgegpu::test {
namespace {

class AccountSeeds : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        request.location = {"b.toml", 5, 1};
    }
    std::string failure() {
        return error_of([&] { check_account_numbers(request, "b.toml", parent, tree); });
    }
    AccountsRequest request;
    ParentAccounts parent;
};

TEST_F(AccountSeeds, FixedNumbersComeBeforeTheParents) {
    request.uids = {{"chrony", 994}};
    request.gids = {{"chrony", 993}};
    parent = {"sshd:x:998:998::/:/bin/sh\n", "sshd:x:998:\n"};
    const ParentAccounts seeds = seed_accounts(request, parent);
    EXPECT_EQ(seeds.passwd, "chrony:x:994:\nsshd:x:998:998::/:/bin/sh\n");
    EXPECT_EQ(seeds.group, "chrony:x:993:\nsshd:x:998:\n");
}

TEST_F(AccountSeeds, ContradictionsWithTheParentAreNamed) {
    request.uids = {{"chrony", 994}};
    parent.passwd = "chrony:x:990:991::/:/sbin/nologin\n";
    const auto failure = [&] {
        return error_of([&] { static_cast<void>(seed_accounts(request, parent)); });
    };
    EXPECT_EQ(failure().substr(0, failure().find('|')),
              "b.toml:5:1: user 'chrony' has uid 990 in the parent commit and 994 in [accounts]");
    EXPECT_NE(failure().find("write 990"), std::string::npos);
    parent.passwd = "sshd:x:994:998::/:/sbin/nologin\n";
    EXPECT_EQ(failure(),
              "b.toml:5:1: uid 994 of user 'chrony' belongs to 'sshd' in the parent commit|choose "
              "a number that is not in use");
}

TEST_F(AccountSeeds, ADriftNamesUserAndBothNumbers) {
    parent.passwd = "chrony:x:995:991::/:/sbin/nologin\ngone:x:1:1::/:/bin/sh\n";
    EXPECT_EQ(failure().substr(0, failure().find('|')),
              "b.toml: user 'chrony' has uid 995 in the parent commit and 990 in this build");
    EXPECT_NE(failure().find("uids = { chrony = 995 }"), std::string::npos);
    parent.passwd = "chrony:x:990:991::/:/sbin/nologin\n";
    parent.group = "chrony:x:7:\n";
    EXPECT_EQ(failure().substr(0, failure().find('|')),
              "b.toml: group 'chrony' has gid 7 in the parent commit and 991 in this build");
    parent.group.clear();
    EXPECT_EQ(failure(), "");
}

TEST_F(AccountSeeds, ADriftNamesWhoHasTheNumberNow) {
    file("/etc/passwd",
         "root:x:0:0::/root:/bin/bash\nclevis:x:997:997::/:/bin/sh\n"
         "chrony:x:990:991::/:/bin/sh\n");
    parent.passwd = "chrony:x:997:991::/:/sbin/nologin\n";
    EXPECT_EQ(failure().substr(0, failure().find('|')),
              "b.toml: user 'chrony' has uid 997 in the parent commit, which 'clevis' has in this "
              "build");
    EXPECT_NE(failure().find("give 'clevis' another number"), std::string::npos);
    // Under another name with the same number, nobody's files become somebody else's.
    file("/etc/passwd", "root:x:0:0::/root:/bin/bash\nclevis:x:997:997::/:/bin/sh\n");
    EXPECT_EQ(failure(), "");
}

TEST_F(AccountSeeds, FixedNumbersHaveToComeTrue) {
    request.uids = {{"chrony", 994}};
    EXPECT_EQ(failure(),
              "b.toml:5:1: user 'chrony' has uid 990, not 994: its package sets it|write 990, or "
              "take 'chrony' out of uids");
    request.uids = {{"chronyd", 990}};
    EXPECT_EQ(failure(),
              "b.toml:5:1: uid 990 of user 'chronyd' is taken by 'chrony'|choose a number that is "
              "not in use");
    request.uids = {{"chronyy", 1}};
    EXPECT_EQ(failure(), "b.toml:5:1: the image has no user 'chronyy'|did you mean 'chrony'?");
    request.uids = {{"chrony", 990}};
    EXPECT_EQ(failure(), "");
}

TEST_F(AccountSeeds, SysusersGetsTheNumbersWithTheRestOfTheLine) {
    file("/usr/lib/sysusers.d/chrony.conf",
         "# comment\nu chrony - \"chrony system user\" /var/lib/chrony\nu fixed 12 x\n"
         "g render -\nu same - \"one number\"\nm chrony render\nu other - -\n");
    const ParentAccounts seeds{"chrony:x:994:\nfixed:x:3:\nsame:x:77:\n",
                               "chrony:x:993:\nrender:x:105:\nsame:x:77:\n"};
    EXPECT_EQ(seed_sysusers(tree, seeds),
              "g chrony 993\nu chrony 994:993 \"chrony system user\" /var/lib/chrony\n"
              "u fixed 12 x\ng render 105\nu same 77 \"one number\"\nu other - -\n");
}

TEST_F(AccountSeeds, SysusersFilesOfEtcStandForThoseOfUsr) {
    file("/usr/lib/sysusers.d/a.conf", "u hidden -\n");
    file("/usr/lib/sysusers.d/b.conf", "u replaced -\n");
    file("/etc/sysusers.d/b.conf", "u local -\n");
    link("/etc/sysusers.d/a.conf", "/dev/null");
    const ParentAccounts seeds{"hidden:x:5:\nreplaced:x:6:\nlocal:x:7:\n", ""};
    EXPECT_EQ(seed_sysusers(tree, seeds), "u local 7\n");
    EXPECT_EQ(seed_sysusers(tree, {"nobody:x:9:\n", ""}), "");
}

}  // namespace
}  // namespace edgegpu::test
