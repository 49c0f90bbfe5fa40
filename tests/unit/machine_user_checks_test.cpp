#include "machine/rehearsal/user_checks.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/rehearsal/guest_files.hpp"
#include "machine_guests.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
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
    EXPECT_EQ(checks[0].moment, Moment::with_commit);
    EXPECT_EQ(checks[1].content, "new");
    EXPECT_EQ(checks[1].moment, Moment::before_upgrade);
    EXPECT_EQ(checks[2].content, "change");
    EXPECT_EQ(checks[2].moment, Moment::before_upgrade);
    EXPECT_EQ(checks[3].name, "change");
    EXPECT_EQ(checks[3].moment, Moment::after_rollback);
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

CheckResult judged_by(int status, bool timed_out = false, const std::string& user = "root") {
    FakeGuest guest;
    guest.answer = [&](const std::string& script) {
        const bool starts = script.find("exec ") != std::string::npos;
        return GuestResult{starts ? status : 0, starts ? "one\ntwo\n" : "", starts && timed_out};
    };
    CheckResult result = run_user_check(guest, {"mine", "content", true, user});
    if (user != "root") {
        EXPECT_NE(guest.asked.back().find("runuser -u " + std::string("'") + user),
                  std::string::npos)
            << guest.asked.back();
    }
    return result;
}

TEST(UserChecks, TheExitStatusDecides) {
    EXPECT_EQ(judged_by(0).verdict, Verdict::passed);
    EXPECT_EQ(judged_by(77).verdict, Verdict::skipped);
    EXPECT_EQ(judged_by(77).text, "two");
    EXPECT_EQ(judged_by(1).verdict, Verdict::failed);
    EXPECT_EQ(judged_by(1).text, "exit status 1");
    EXPECT_EQ(judged_by(139, false, "operator").text, "exit status 139, as operator");
    EXPECT_EQ(judged_by(124, true).text, "did not end within 600 s");
    EXPECT_EQ(judged_by(1).details.size(), 2U);
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
