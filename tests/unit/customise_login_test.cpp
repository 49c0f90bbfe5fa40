#include "customise/accounts/login.hpp"

#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

constexpr std::int64_t day = 86400;

class Login : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        ctx.source_date_epoch = 20000 * day;
        user_.name = "op";
        user_.key = "ssh-ed25519 AAAA";
        user_.location = {"b.toml", 7, 1};
        account("*");
    }
    void account(const std::string& password, const std::string& expires = "",
                 const std::string& shell = "/bin/bash") {
        file("/etc/passwd",
             "root:x:0:0:root:/root:/bin/bash\nop:x:1000:1000::/home/op:" + shell + "\n");
        file("/etc/shadow",
             "root:*::0:99999:7:::\nop:" + password + "::0:99999:7::" + expires + ":\n", 0000);
    }
    std::string refused(LoginSource source = LoginSource::image) {
        return error_of([&] { require_login(ctx, {user_}, source, {}, tree); });
    }
    // NOLINTNEXTLINE(*-non-private-*)
    UserRequest user_;
};

TEST_F(Login, AKeyNeedsAnSshdThatStarts) {
    EXPECT_NE(refused().find("b.toml:7:1: nobody could log in to this image"), std::string::npos);
    EXPECT_EQ(refused(LoginSource::none), "");
    EXPECT_EQ(refused(LoginSource::provisioned), "");
    file("/usr/lib/systemd/system/sshd.service", "x");
    EXPECT_NE(refused(), "") << "it is there, and nothing starts it";
    link("/etc/systemd/system/multi-user.target.wants/sshd.service",
         "/usr/lib/systemd/system/sshd.service");
    EXPECT_EQ(refused(), "");
}

TEST_F(Login, APasswordNeedsNone) {
    account("$6$salt$hash");
    EXPECT_EQ(refused(), "");
    account("!$6$salt$hash");
    EXPECT_NE(refused(), "");
    user_.key.clear();
    user_.password = "!";
    EXPECT_NE(refused(), "");
}

TEST_F(Login, AnAccountMustNotBeExpiredOrRefuse) {
    account("$6$salt$hash", "20001");
    EXPECT_EQ(refused(), "");
    account("$6$salt$hash", "20000");
    EXPECT_NE(refused(), "");
    account("$6$salt$hash", "", "/sbin/nologin");
    EXPECT_NE(refused(), "");
}

TEST_F(Login, OneOfSeveralWhoCannotIsSaid) {
    account("$6$salt$hash");
    file("/etc/passwd",
         "root:x:0:0:root:/root:/bin/bash\nop:x:1000:1000::/home/op:/bin/bash\n"
         "backup:x:1001:1001::/home/backup:/sbin/nologin\n");
    UserRequest backup = user_;
    backup.name = "backup";
    backup.location = {"b.toml", 9, 1};
    UserRequest locked = backup;
    locked.key.clear();
    locked.password = "!";
    require_login(ctx, {user_, backup, locked}, LoginSource::image, {}, tree);
    EXPECT_EQ(
        console.warnings(),
        std::vector<std::string>{"b.toml:9:1: cannot log in: backup has the shell /sbin/nologin"});
}

TEST_F(Login, UsersWithoutCredentialsWereJudgedBefore) {
    user_.key.clear();
    EXPECT_EQ(refused(), "");
    EXPECT_EQ(error_of([&] { require_login(ctx, {}, LoginSource::image, {}, tree); }), "");
}

}  // namespace
}  // namespace edgegpu::test
