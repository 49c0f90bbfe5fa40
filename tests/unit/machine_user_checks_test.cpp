#include "machine/rehearsal/user_checks.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "machine/rehearsal/guest_files.hpp"
#include "machine_guests.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

namespace fs = std::filesystem;
using test::FakeGuest;
using test::LocalGuest;

TEST(UserChecks, AreTheExecutableFilesOfADirectorySorted) {
    const test::TemporaryDirectory directory;
    write_file(directory.path() / "b", "two", 0755);
    write_file(directory.path() / "a", "one", 0755);
    write_file(directory.path() / "README", "text", 0644);
    write_file(directory.path() / ".hidden", "x", 0755);
    fs::create_directory(directory.path() / ".git");
    const std::vector<UserCheck> checks = read_user_checks(directory.path());
    ASSERT_EQ(checks.size(), 2U);
    EXPECT_EQ(checks[0].name, "a");
    EXPECT_EQ(checks[0].content, "one");
    EXPECT_EQ(checks[1].name, "b");
}

TEST(UserChecks, AScriptThatNobodyMadeExecutableIsAMistake) {
    const test::TemporaryDirectory directory;
    write_file(directory.path() / "a", "#!/bin/sh\n", 0755);
    write_file(directory.path() / "b", "#!/bin/sh\n", 0644);
    EXPECT_THROW((void)read_user_checks(directory.path()), Error);
}

TEST(UserChecks, OfOtherMomentsAreInSubdirectories) {
    const test::TemporaryDirectory directory;
    fs::create_directories(directory.path() / "before-upgrade" / "deeper");
    fs::create_directory(directory.path() / "rollback");
    write_file(directory.path() / "both", "new", 0755);
    fs::create_symlink("../both", directory.path() / "before-upgrade" / "both");
    write_file(directory.path() / "before-upgrade" / "change", "change", 0755);
    write_file(directory.path() / "rollback" / "change", "is it there?", 0755);
    const std::vector<UserCheck> checks = read_user_checks(directory.path());
    ASSERT_EQ(checks.size(), 4U);
    EXPECT_EQ(checks[0].content, "new");
    EXPECT_EQ(checks[0].phases, UserCheck().phases);
    EXPECT_EQ(checks[1].content, "new");
    EXPECT_THAT(checks[1].phases, testing::ElementsAre("before-upgrade", "before-rollback"));
    EXPECT_EQ(checks[2].content, "change");
    EXPECT_THAT(checks[2].phases, testing::ElementsAre("before-upgrade", "before-rollback"));
    EXPECT_EQ(checks[3].name, "change");
    require_different_names(checks);
    EXPECT_THAT(checks[3].phases, testing::ElementsAre("rollback"));
    fs::remove(directory.path() / "both");
    EXPECT_EQ(read_user_checks(directory.path()).size(), 2U) << "a link to nothing is no file";
    fs::create_directory(directory.path() / "before_upgrade");
    EXPECT_THROW((void)read_user_checks(directory.path()), Error);
}

TEST(UserChecks, ADirectoryWithoutAnyIsAMistake) {
    const test::TemporaryDirectory directory;
    write_file(directory.path() / "a", "one", 0644);
    EXPECT_THROW((void)read_user_checks(directory.path()), Error);
    EXPECT_THROW((void)read_user_checks(directory.path() / "none"), Error);
    fs::resize_file(directory.path() / "a", (4U << 20U) + 1);
    fs::permissions(directory.path() / "a", fs::perms::all);
    EXPECT_THROW((void)read_user_checks(directory.path()), Error);
}

TEST(UserChecks, NamesAndFilesMayBeOdd) {
    const test::TemporaryDirectory directory;
    const fs::path& top = directory.path();
    const std::string longest(255, 'n');
    for (const std::string& name : {std::string("-rf"), std::string("two\nlines"),
                                    std::string("\033[2J"), std::string("a b"), longest}) {
        write_file(top / "new", "#!/bin/sh\n", 0755);
        fs::rename(top / "new", top / name);
    }
    fs::create_symlink("circle", top / "circle");
    fs::create_symlink("nowhere", top / "dangling");
    ASSERT_EQ(::mkfifo((top / "fifo").c_str(), 0777), 0);
    std::vector<std::string> names;
    for (const UserCheck& check : read_user_checks(top)) {
        names.push_back(check.name);
    }
    EXPECT_THAT(names,
                testing::UnorderedElementsAre("-rf", "two\nlines", "\033[2J", "a b", longest));
    EXPECT_THROW((void)read_user_checks(top / "circle"), Error);
}

TEST(UserChecks, NamesHaveToDiffer) {
    const UserCheck check{"a", "", "root", std::chrono::seconds(1), {"boot"}};
    UserCheck other = check;
    other.name = "b";
    EXPECT_NO_THROW(require_different_names({check, other}));
    EXPECT_THROW(require_different_names({check, other, check}), Error);
}

UserCheck own_check(const std::string& content, const std::string& user = "root") {
    UserCheck check;
    check.name = "mine";
    check.content = content;
    check.user = user;
    return check;
}

const UserCheckPlace own_place{"before-upgrade", "uefi", std::string(64, 'a')};

/// This machine runs the check, from a file of the test's instead of /var/lib.
class LocalCheckGuest : public LocalGuest {
public:
    GuestResult run(std::string_view script, std::chrono::seconds limit) override {
        std::string text(script);
        const std::string place = "/var/lib/edgegpu-test/";
        for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place)) {
            text.replace(at, place.size(), directory_.path().string() + "/");
        }
        return LocalGuest::run(text, limit);
    }

private:
    test::TemporaryDirectory directory_;
};

TEST(UserChecks, KnowPhaseFirmwareAndCommit) {
    LocalCheckGuest guest;
    const std::string script =
        "echo \"$EDGEGPU_PHASE $EDGEGPU_FIRMWARE ${#EDGEGPU_COMMIT} $PWD ${BASH_VERSION:+bash}\"";
    EXPECT_THAT(run_user_check(guest, own_check(script), own_place).details,
                testing::ElementsAre("before-upgrade uefi 64 / bash"));
    EXPECT_THAT(run_user_check(guest, own_check("#!/usr/bin/env sh\n" + script), own_place).details,
                testing::ElementsAre("before-upgrade uefi 64 /"));
    EXPECT_EQ(run_user_check(guest, own_check("exit 77"), own_place).text, "exit status 77");
}

TEST(UserChecks, RunAsTheirUserWithItsHome) {
    LocalCheckGuest guest;
    guest.programs =
        "getent() { [ \"$2\" != operator ] || echo 'operator:x:1:1::/home/op:/bin/sh'; "
        "[ \"$2\" = operator ]; }\njournalctl() { echo 'the journal of '\"$*\"; }\n"
        "exec() { case $1 in runuser) \"${@:5}\"; exit ;; *) builtin exec \"$@\" ;; "
        "esac; }";
    const CheckResult known =
        run_user_check(guest, own_check("echo \"$HOME $USER\"", "operator"), own_place);
    EXPECT_THAT(known.details, testing::ElementsAre("/home/op operator"));
    EXPECT_EQ(known.text, "exit status 0, as operator");
    const CheckResult unknown = run_user_check(guest, own_check("true", "nobody-here"), own_place);
    EXPECT_EQ(unknown.verdict, Verdict::failed);
    ASSERT_GE(unknown.details.size(), 3U);
    EXPECT_EQ(unknown.details[0], "the machine has no user nobody-here");
    EXPECT_EQ(unknown.details[1], "the journal:");
    EXPECT_THAT(unknown.details[2], testing::HasSubstr("--since=-"));
}

TEST(UserChecks, AGuestThatIsGoneIsAnError) {
    FakeGuest guest;
    EXPECT_THROW((void)run_user_check(guest, own_check("true"), own_place), Error);
}

CheckResult judged_by(int status, bool timed_out = false, const std::string& user = "root") {
    FakeGuest guest;
    bool started = false;
    guest.answer = [&](const std::string& script) {
        const bool starts = script.find("exec ") != std::string::npos;
        if (started) {
            throw Error("the guest has no journal");
        }
        started = starts;
        return GuestResult{starts ? status : 0, starts ? "one\ntwo\n" : "", starts && timed_out};
    };
    return run_user_check(guest, own_check("content", user), own_place);
}

TEST(UserChecks, TheExitStatusDecides) {
    EXPECT_EQ(judged_by(0).verdict, Verdict::passed);
    EXPECT_EQ(judged_by(77).verdict, Verdict::skipped);
    EXPECT_EQ(judged_by(77).text, "two");
    EXPECT_EQ(judged_by(1).verdict, Verdict::failed);
    EXPECT_EQ(judged_by(1).text, "exit status 1");
    EXPECT_EQ(judged_by(139, false, "operator").text, "exit status 139, as operator");
    EXPECT_EQ(judged_by(124, true).text, "did not end within 600 s");
    // The check's own result stays, whatever becomes of the journal.
    EXPECT_THAT(judged_by(1).details,
                testing::ElementsAre("one", "two", "no journal: the guest has no journal"));
    EXPECT_EQ(judged_by(0).details.size(), 2U);
}

// put_file is tested with a real shell: this machine's.
TEST(GuestFiles, AreWrittenInPiecesWithEveryByte) {
    const test::TemporaryDirectory directory;
    LocalGuest guest;
    std::string content;
    for (int i = 0; i < 100000; ++i) {
        content += static_cast<char>(i * 7);
    }
    const fs::path path = directory.path() / "it's a $(dir)" / "file";
    put_file(guest, path, content, 0640);
    EXPECT_EQ(read_file(path), content);
    EXPECT_EQ(fs::status(path).permissions(), static_cast<fs::perms>(0640));
    put_file(guest, path, "", 0600);
    EXPECT_EQ(read_file(path), "");
    EXPECT_FALSE(fs::exists(path.string() + ".part"));
    EXPECT_THROW(put_file(guest, "/proc/edgegpu/x", "x", 0600), Error);
}

}  // namespace
}  // namespace edgegpu
