// What checks make of what a guest answers. There is no machine behind these guests.

#include "machine/rehearsal/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_guests.hpp"

namespace edgegpu {
namespace {

using test::check_named;
using test::FakeGuest;
using test::LocalGuest;
using test::some_commit_facts;
using testing::ElementsAre;
using testing::HasSubstr;

CheckResult result_of(const GuestResult& answer) {
    FakeGuest guest;
    guest.answer = [&](const std::string&) { return answer; };
    return run_check(guest, {"x", "body", {}, std::chrono::seconds(1), ""});
}

TEST(MachineChecks, AnAnswerWithoutVerdictIsAFailure) {
    for (const char* output : {"", "edgegpu-verdict", "edgegpu-verdict fine all is well",
                               "xedgegpu-verdict passed x", "edgegpu-verdict  passed"}) {
        const CheckResult result = result_of({0, output, false});
        EXPECT_EQ(result.verdict, Verdict::failed) << output;
        EXPECT_EQ(result.text, "the check itself failed with status 0") << output;
    }
    EXPECT_EQ(result_of({127, "bash: not found", false}).text,
              "the check itself failed with status 127");
    EXPECT_THAT(result_of({127, "bash: not found", false}).details, ElementsAre("bash: not found"));
}

TEST(MachineChecks, WhatDidNotEndHasFailedWhateverItSaid) {
    const CheckResult result = result_of({124, "\nedgegpu-verdict passed fine\n", true});
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "the check did not end in time");
}

TEST(MachineChecks, AScriptThatDidNotEndItselfHasFailedWhateverItPrinted) {
    for (const int status : {1, 137, 143}) {
        const CheckResult result =
            result_of({status, "from a log:\nedgegpu-verdict passed fine\n", false});
        EXPECT_EQ(result.verdict, Verdict::failed) << status;
        EXPECT_EQ(result.text, "the check itself failed with status " + std::to_string(status));
    }
}

TEST(MachineChecks, OnlyInformationMayBeLeftOutByTheGuest) {
    GuestResult answer{0, "\nedgegpu-verdict skipped nothing here\n", false};
    const CheckResult result = result_of(answer);
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "the machine left out a check of what the image has: nothing here");
    FakeGuest guest;
    guest.answer = [&](const std::string&) { return answer; };
    EXPECT_EQ(run_check(guest, check_named(some_commit_facts(), "boot-time")).verdict,
              Verdict::skipped);
}

TEST(MachineChecks, TheLastVerdictCountsAndTheRestIsDetails) {
    const CheckResult result = result_of({0,
                                          "one\r\n\nedgegpu-verdict passed fine\ntwo\n"
                                          "edgegpu-verdict failed not so\n",
                                          false});
    EXPECT_EQ(result.name, "x");
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "not so");
    EXPECT_THAT(result.details, ElementsAre("one", "two"));
}

TEST(MachineChecks, AGuestThatIsGoneIsAnError) {
    FakeGuest guest;
    EXPECT_THROW((void)run_check(guest, check_named(some_commit_facts(), "memory")), Error);
}

TEST(MachineChecks, WhatTheImageDoesNotHaveIsSkippedWithTheReasonAndNotAsked) {
    FakeGuest guest;
    CommitFacts facts;
    std::vector<std::string> reasons;
    std::vector<Check> checks = image_checks(facts, nullptr);
    for (Check& check : final_checks(facts, {})) {
        checks.push_back(std::move(check));
    }
    for (const Check& check : checks) {
        if (!check.skipped.empty()) {
            const CheckResult result = run_check(guest, check);
            EXPECT_EQ(result.verdict, Verdict::skipped);
            reasons.push_back(result.name + ": " + result.text);
        }
    }
    EXPECT_TRUE(guest.asked.empty());
    EXPECT_THAT(reasons,
                ElementsAre("greenboot: the image does not enable greenboot",
                            "gpu-health: the image has no gpu-health",
                            "services: the image enables no unit",
                            "selinux-enforcing: the image has no SELinux policy",
                            "labels: the image has no SELinux policy",
                            "kernel-arguments: the commit does not list its kernel arguments",
                            "blacklisted-modules: the image blacklists no module",
                            "firewall: the image enables neither firewalld nor nftables",
                            "bundles: the image has no MicroShift",
                            "labels-at-end: the image has no SELinux policy",
                            "selinux-denials: the image has no SELinux policy"));
    facts.selinux = "permissive";
    EXPECT_EQ(check_named(facts, "selinux-enforcing").skipped,
              "the image configures SELINUX=permissive");
    for (const char* name : {"selinux-denials", "labels", "labels-at-end"}) {
        EXPECT_EQ(check_named(facts, name).skipped, "") << name;
    }
}

TEST(MachineChecks, WhatGoesWrongAtAnyTimeIsCheckedLast) {
    const std::vector<Check> last = final_checks(some_commit_facts(), {});
    ASSERT_EQ(last.size(), 4U);
    EXPECT_EQ(last[0].name, "multi-user-at-end");
    EXPECT_EQ(last[1].name, "failed-units");
    EXPECT_EQ(last[2].name, "labels-at-end");
    EXPECT_EQ(last[3].name, "selinux-denials");
}

TEST(MachineChecks, WhoCannotLogInByTheImageNeedNotOnTheMachine) {
    EXPECT_EQ(authorized_key_check({"a", "/sbin/nologin", {"AAAA"}}).skipped,
              "a cannot log in: the shell is /sbin/nologin");
    EXPECT_EQ(authorized_key_check({"a", "/bin/bash", {"AAAA"}}).skipped, "");
    EXPECT_EQ(authorized_key_check({"a", "", {"AAAA"}}).skipped, "");
}

TEST(MachineChecks, WhereUsersHaveWorkedHomeDirectoriesHaveTheLabelsThatProgramsGaveThem) {
    const std::string programs = R"(
mkdir() { :; }
chcon() { :; }
restorecon() {
    echo 'Would relabel /etc/.pwd.lock from a:b:c:s0 to a:b:d:s0'
    echo "Would relabel $probe from a:b:c:s0 to a:b:d:s0"
    echo 'Would relabel /var/home/a/.local/share/with blank from a:b:c:s0 to a:b:d:s0'
    echo 'Would relabel /var/roothome/.cache from a:b:c:s0 to a:b:d:s0'
    [ -z "$WRONG" ] || echo "Would relabel $WRONG from a:b:c:s0 to a:b:d:s0"
}
)";
    CommitFacts before = some_commit_facts();
    const auto ask = [&](const CommitFacts* from, const std::string& wrong) {
        LocalGuest guest;
        guest.programs = "WRONG='" + wrong + "'" + programs;
        guest.put("/sys/fs/selinux/enforce", "1");
        guest.put("/var/lib/edgegpu-test/wrongly-labelled", "");
        return run_check(guest, check_named(some_commit_facts(), "labels", {}, from)).text;
    };
    EXPECT_EQ(ask(nullptr, ""), "labels that the policy does not have for the path: 2");
    EXPECT_EQ(ask(&before, ""), "the labels of /etc and /var are those of the policy");
    EXPECT_EQ(ask(&before, "/var/home/a"), "labels that the policy does not have for the path: 1");
    EXPECT_EQ(ask(&before, "/var/lib/x /var/home/a/b"),
              "labels that the policy does not have for the path: 1");
}

constexpr const char* fake_systemctl = R"(
systemctl() {
    case "$4 ${*: -1}" in
        'ActiveState multi-user.target' | 'ActiveState good.service') echo ActiveState=active ;;
        'ActiveState bad.service') echo ActiveState=failed ;;
        'ActiveState '*) echo ActiveState=inactive ;;
        'ActiveExitTimestampMonotonic '*) echo ActiveExitTimestampMonotonic=0 ;;
        'Result once.service') echo Result=success ;;
        'Type once.service') echo Type=oneshot ;;
        'ExecMainExitTimestamp once.service') echo 'ExecMainExitTimestamp=Mon' ;;
        'ConditionResult unmet.service') echo ConditionResult=no ;;
        'ConditionTimestamp unmet.service') echo ConditionTimestamp=Mon ;;
        *) if [ "$1" = show ]; then echo "$4="; else echo "status of ${*: -1}"; fi ;;
    esac
}
journalctl() { echo "journal of ${*: -1}"; }
)";

TEST(MachineChecks, EnabledUnitsHaveToBeActiveOrDone) {
    LocalGuest guest;
    guest.programs = fake_systemctl;
    CommitFacts facts = some_commit_facts();
    facts.enabled = {{"good.service", "multi-user.target"},
                     {"once.service", "multi-user.target"},
                     {"unmet.service", "multi-user.target"},
                     {"bad.service", "graphical.target"},
                     {"greenboot-healthcheck.service", "multi-user.target"}};
    CheckResult result = run_check(guest, check_named(facts, "services"));
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(result.text,
              "2 units that the image enables started; unmet.service did not, since a condition is "
              "not met");
    facts.enabled.push_back({"bad.service", "multi-user.target"});
    facts.enabled.push_back({"gone.service", "multi-user.target"});
    result = run_check(guest, check_named(facts, "services"));
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(
        result.text,
        "enabled by the image, but not active: bad.service is failed, gone.service is inactive");
    EXPECT_THAT(result.details, testing::Contains("journal of bad.service"));
}

TEST(MachineChecks, EachCardHasTheNodeOfItsBridge) {
    const test::TemporaryDirectory place;
    const auto device = [&](const std::string& address, const char* kind, const char* node) {
        make_directories(place.path() / address);
        write_file(place.path() / address / "class", std::string(kind) + '\n');
        write_file(place.path() / address / "numa_node", std::string(node) + '\n');
    };
    Check check = gpu_nodes_check(guest_nodes(
        {parse_host_gpu("3b:00.0@1"), parse_host_gpu("86:00.0@0"), parse_host_gpu("87:00.0@0")},
        2048, 3));
    check.parameters["DEVICES"] = place.path().string();
    LocalGuest guest;
    EXPECT_EQ(run_check(guest, check).text, "there is no such adapter");
    device("0000:00:01.0", "0x030000", "-1");
    device("0000:21:00.0", "0x038000", "0");
    device("0000:22:00.0", "0x038000", "0");
    device("0000:91:00.0", "0x038000", "-1");
    EXPECT_EQ(run_check(guest, check).text, "the nodes are 0, 0, -1, and not 0, 0, 1");
    device("0000:91:00.0", "0x038000", "1");
    const CheckResult good = run_check(guest, check);
    EXPECT_EQ(good.verdict, Verdict::passed);
    EXPECT_EQ(good.text, "the kernel knows the node of 3 cards: 0, 0, 1");
}

TEST(MachineChecks, BlacklistedModulesAreNamed) {
    LocalGuest guest;
    guest.put("/proc/modules", "nouveau 1 0 - Live\n");
    guest.programs = "journalctl() { :; }";
    CommitFacts facts = some_commit_facts();
    facts.blacklisted_modules = {"a", "b", "c", "d"};
    EXPECT_EQ(run_check(guest, check_named(facts, "blacklisted-modules")).text,
              "no blacklisted module is loaded (4 modules: a, b, c, …)");
    facts.blacklisted_modules = {"nouveau"};
    const CheckResult result = run_check(guest, check_named(facts, "blacklisted-modules"));
    EXPECT_EQ(result.text, "blacklisted, but loaded: nouveau");
    EXPECT_THAT(result.details, ElementsAre(HasSubstr("nouveau 1 0")));
}

CheckResult judged_report(const std::string& verdict, const std::string& red,
                          const std::string& findings) {
    LocalGuest guest;
    guest.programs = fake_systemctl;
    guest.put("/run/edgegpu/gpu-health.json", R"({
  "format": "edgegpu-gpu-health/1",
  "verdict": ")" + verdict + R"(",
  "red": )" + red + R"(,
  "reason": "because of \"this\"",
  "cards": [],
  "steps": [
    {
      "step": "presence",
      "milliseconds": 0.5,
      "text": "no card of NVIDIA's \\u0007"
    },
    {
      "step": "nvml",
      "error": "it hangs"
    }
  ],
  "findings": )" + findings + "\n}\n");
    CommitFacts facts = some_commit_facts();
    facts.gpu_health = true;
    return run_check(guest, check_named(facts, "gpu-health"));
}

TEST(MachineChecks, AnAlarmOfGpuHealthIsShownAndRedHasFailed) {
    CheckResult result = judged_report("healthy", "false", "[]");
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(result.text, "gpu-health: healthy: because of \"this\"");
    EXPECT_THAT(result.notes,
                ElementsAre("presence: no card of NVIDIA's \\u0007", "nvml: it hangs"));
    const std::string findings = R"([
    {
      "step": "presence",
      "verdict": "hardware",
      "fault": "no-gpu",
      "text": "there is no card",
      "action": "look for it",
      "note": false
    },
    {
      "step": "nvml",
      "verdict": "unclear",
      "text": "no licence",
      "note": true
    }
  ])";
    result = judged_report("hardware", "false", findings);
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(result.text,
              "gpu-health: alarm (hardware), and the image stays: because of \"this\"");
    ASSERT_EQ(result.notes.size(), 4U);
    EXPECT_EQ(result.notes[2], "hardware: there is no card; what to do: look for it");
    EXPECT_EQ(result.notes[3], "note: no licence");
    result = judged_report("image", "true", findings);
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "gpu-health: red (image): because of \"this\"");
    EXPECT_THAT(result.details, testing::Contains("journal of edgegpu-gpu-health.service"));
    for (const auto& [verdict, red] :
         {std::pair{"healthy", "\"false\""}, std::pair{"fine", "false"}, std::pair{"", "false"}}) {
        EXPECT_THAT(judged_report(verdict, red, "[]").text, HasSubstr("cannot be checked"));
    }
}

TEST(MachineChecks, GpuHealthIsAskedAboutWhereTheUnitOfTheImageRunsIt) {
    CommitFacts facts = some_commit_facts();
    facts.gpu_health = true;
    EXPECT_EQ(check_named(facts, "gpu-health").parameters.at("UNIT"), "edgegpu-gpu-health.service");
    facts.greenboot = "greenboot-healthcheck.service";
    EXPECT_EQ(check_named(facts, "gpu-health").parameters.at("UNIT"), facts.greenboot);
}

}  // namespace
}  // namespace edgegpu
