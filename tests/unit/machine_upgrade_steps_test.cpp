#include "machine/rehearsal/upgrade_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_guests.hpp"
#include "support/files/file.hpp"
#include "support/text/shell_text.hpp"
#include "support/text/text.hpp"

namespace edgegpu {
namespace {

using test::FakeGuest;
using test::LocalGuest;
using testing::HasSubstr;

const std::string old_commit(64, 'a');
const std::string new_commit(64, 'b');

TEST(UpgradeSteps, ARemoteKeepsEverythingButItsPlace) {
    const ImageRemote remote{"edge", "/etc/ostree/remotes.d/edge.conf",
                             "# ours\n[remote \"other\"]\nurl=http://other\n"
                             "[remote \"edge\"]\nurl = http://example.com/repo\n"
                             "contenturl=http://cdn\ntls-permissive=true\nproxy=http://p\n"
                             "gpg-verify=true\ngpgkeypath=/etc/pki/edgegpu/edge.gpg\n",
                             true};
    EXPECT_EQ(redirected_remote(remote, "https://10.0.2.2:1", "/etc/x.pem"),
              "# ours\n[remote \"other\"]\nurl=http://other\n"
              "[remote \"edge\"]\nurl=https://10.0.2.2:1\ntls-ca-path=/etc/x.pem\n"
              "gpg-verify=true\ngpgkeypath=/etc/pki/edgegpu/edge.gpg\n");
}

TEST(UpgradeSteps, ARemoteThatVerifiesNothingFails) {
    ImageRemote remote{"edge", "/etc/ostree/remotes.d/edge.conf", "", false};
    EXPECT_EQ(verification_check(remote).verdict, Verdict::failed);
    remote.verifies = true;
    EXPECT_EQ(verification_check(remote).verdict, Verdict::passed);
}

CheckResult upgrade(const std::string& programs, const std::string& upgrader = "ostree") {
    LocalGuest guest;
    guest.programs = programs;
    CommitFacts facts;
    facts.upgrader = upgrader;
    return run_check(guest, upgrade_check(facts, new_commit));
}

TEST(UpgradeSteps, AnUpgradeHasToDeployTheCommit) {
    const std::string status = "if [ \"$2\" = status ]; then printf '%s\\n' \"$deployments\"; fi";
    const std::string ostree = "ostree() { " + status + "; }\n";
    const std::string deployed = "  lab " + new_commit + ".0 (pending)";
    const std::string booted = "* lab " + old_commit + ".0";
    const CheckResult good =
        upgrade("deployments='" + deployed + "\n    Version: 1\n" + booted + "'\n" + ostree);
    EXPECT_EQ(good.verdict, Verdict::passed) << good.text;
    const CheckResult none = upgrade("deployments='" + booted + "'\n" + ostree);
    EXPECT_EQ(none.verdict, Verdict::failed);
    EXPECT_EQ(none.text,
              "after the upgrade commit aaaaaaaaaaaa is to be started, not bbbbbbbbbbbb");
    const CheckResult failed = upgrade("ostree() { echo 'GPG: no signature'; return 3; }");
    EXPECT_EQ(failed.text, "the upgrade failed: ostree ended with status 3");
    EXPECT_THAT(failed.details, testing::ElementsAre("GPG: no signature"));
    EXPECT_EQ(upgrade("rpm-ostree() { return 1; }\njournalctl() { :; }", "rpm-ostree").text,
              "the upgrade failed: rpm-ostree ended with status 1");
    EXPECT_EQ(upgrade("edgegpu-update() { echo \"$@\"; return 1; }\njournalctl() { :; }",
                      "edgegpu-update")
                  .details,
              std::vector<std::string>{"now --no-restart"});
}

TEST(UpgradeSteps, WhatWasDownloadedIsToldAndADeltaHasToBeUsed) {
    const std::string commit = "objects/bb/" + new_commit.substr(2) + ".commit";
    const std::string superblock = delta_path(old_commit, new_commit) + "/superblock";
    StaticDelta delta;
    delta.bytes = 2048;
    delta.fallbacks = 1;
    const auto check = [&](const std::optional<StaticDelta>& there,
                           const std::set<std::string>& files) {
        return download_check(old_commit, new_commit, there, {files, 3, 4096});
    };
    EXPECT_EQ(check({}, {"config", "summary"}).verdict, Verdict::failed);
    EXPECT_EQ(check(delta, {"config", "deltas/x"}).verdict, Verdict::failed);
    const CheckResult unused = check(delta, {commit, "objects/00/1.filez"});
    EXPECT_EQ(unused.verdict, Verdict::failed);
    EXPECT_EQ(unused.text,
              "4.0 KiB in 3 requests: the repository has a static delta of 2.0 KiB between the "
              "two, and the machine did not use it");
    EXPECT_EQ(check({}, {commit}).text,
              "4.0 KiB in 3 requests; the repository has no static delta between the two");
    EXPECT_EQ(check(delta, {commit, superblock, "objects/00/1.filez"}).text,
              "4.0 KiB in 3 requests with the static delta");
    const CheckResult beside =
        check(delta, {superblock, "objects/00/1.filez", "objects/00/1.dirtree"});
    EXPECT_EQ(beside.verdict, Verdict::passed);
    EXPECT_NE(beside.text.find(", 1 objects beside it"), std::string::npos) << beside.text;
}

TEST(UpgradeSteps, ABootStateIsACommitOrNothing) {
    FakeGuest guest;
    guest.answer = [](const std::string&) {
        return GuestResult{0, "noise\ncommit " + new_commit + "\nboot 1-2\n", false};
    };
    EXPECT_EQ(boot_state(guest).commit, new_commit);
    EXPECT_EQ(boot_state(guest).boot, "1-2");
    guest.answer = [](const std::string&) { return GuestResult{0, "commit \nboot\n", false}; };
    EXPECT_EQ(boot_state(guest).commit, "");
}

TEST(UpgradeSteps, TheRedCheckIsGreenForOneCommitOnly) {
    FakeGuest guest;
    guest.answer = [](const std::string&) { return GuestResult{0, "", false}; };
    put_red_check(guest, old_commit);
    // The content travels as base64: */COMMIT.*) of a case.
    EXPECT_GE(guest.asked.size(), 3U);
    EXPECT_THAT(guest.asked.back(),
                HasSubstr("/etc/greenboot/check/required.d/99_edgegpu_test_red.sh"));
}

TEST(UpgradeSteps, TheRedCheckIsRedAfterEverythingElseHasStarted) {
    LocalGuest guest;
    std::string script = read_file(EDGEGPU_SOURCE_DIR "/src/machine/rehearsal/checks/red_check.sh");
    const auto run = [&](const std::string& wait) {
        return guest.run(fill_in(script, {{"COMMIT", old_commit}, {"WAIT", wait}}),
                         std::chrono::seconds(1));
    };
    guest.programs = R"(
jobs=5
sleep() { jobs=$((jobs - 1)); echo "$jobs left"; }
systemctl() {
    echo '12 greenboot-healthcheck.service start running'
    echo '13 multi-user.target start waiting'
    [ "$jobs" -lt 3 ] || echo '14 edgegpu-kernel-arguments.service start running'
}
)";
    const GuestResult late = run("600");
    EXPECT_EQ(late.status, 1);
    EXPECT_THAT(late.output, testing::StartsWith("4 left\n3 left\n2 left\nedgegpu test: "));
    const GuestResult at_once = run("0");
    EXPECT_EQ(at_once.status, 1);
    EXPECT_THAT(at_once.output, testing::StartsWith("edgegpu test: "));
}

}  // namespace
}  // namespace edgegpu
