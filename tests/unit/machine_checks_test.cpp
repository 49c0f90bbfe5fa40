// What checks make of what a guest answers. There is no machine behind these guests.

#include "machine/rehearsal/checks.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine_guests.hpp"

namespace edgegpu {
namespace {

using test::FakeGuest;
using test::LocalGuest;
using testing::ElementsAre;
using testing::HasSubstr;

CheckResult result_of(const GuestResult& answer) {
    FakeGuest guest;
    guest.answer = [&](const std::string&) { return answer; };
    return run_check(guest, {"x", "body", {}, std::chrono::seconds(1), ""});
}

CommitFacts some_facts() {
    CommitFacts facts;
    facts.commit = std::string(64, 'a');
    facts.selinux = "enforcing";
    return facts;
}

Check check_named(const CommitFacts& facts, const std::string& name,
                  const std::vector<AllowedDenial>& allowed = {}) {
    const std::vector<Check> checks = image_checks(facts, allowed);
    const auto found = std::find_if(checks.begin(), checks.end(),
                                    [&](const Check& check) { return check.name == name; });
    if (found == checks.end()) {
        throw Error("no check " + name);
    }
    return *found;
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
    EXPECT_THROW((void)run_check(guest, check_named(some_facts(), "memory")), Error);
}

TEST(MachineChecks, WhatTheImageDoesNotHaveIsSkippedWithTheReasonAndNotAsked) {
    FakeGuest guest;
    CommitFacts facts;
    std::vector<std::string> reasons;
    for (const Check& check : image_checks(facts, {})) {
        if (!check.skipped.empty()) {
            const CheckResult result = run_check(guest, check);
            EXPECT_EQ(result.verdict, Verdict::skipped);
            reasons.push_back(result.name + ": " + result.text);
        }
    }
    EXPECT_TRUE(guest.asked.empty());
    EXPECT_THAT(reasons,
                ElementsAre("greenboot: the image does not enable greenboot",
                            "services: the image enables no unit",
                            "selinux-enforcing: the image has no SELinux policy",
                            "selinux-denials: the image has no SELinux policy",
                            "labels: the image has no SELinux policy",
                            "kernel-arguments: the commit does not list its kernel arguments",
                            "blacklisted-modules: the image blacklists no module",
                            "firewall: the image enables neither firewalld nor nftables",
                            "bundles: the image has no MicroShift"));
    facts.selinux = "permissive";
    EXPECT_EQ(check_named(facts, "selinux-enforcing").skipped,
              "the image configures SELINUX=permissive");
    EXPECT_EQ(check_named(facts, "selinux-denials").skipped, "");
}

TEST(MachineChecks, ParametersCannotLeaveTheirQuotes) {
    CommitFacts facts = some_facts();
    facts.kernel_arguments = {"a='$(touch /tmp/edgegpu-was-here)'", "console=ttyS0"};
    LocalGuest guest;
    guest.programs = "cat() { printf '%s' \"BOOT a='\\$(touch /tmp/edgegpu-was-here)' quiet\"; }";
    const CheckResult result = run_check(guest, check_named(facts, "kernel-arguments"));
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text,
              "arguments of the commit that the kernel was started without: console=ttyS0");
}

constexpr const char* fake_arguments = R"(
cat() { if [ "$*" = /proc/cmdline ]; then echo "$RUNNING"; else command cat "$@"; fi; }
rpm-ostree() { printf 'The kernel arguments are:\n%s\n' "$NEXT"; }
)";

CheckResult judged_arguments(const Check& check, const std::string& running,
                             const std::string& next) {
    LocalGuest guest;
    guest.programs = "RUNNING='" + running + "' NEXT='" + next + "'" + fake_arguments;
    return run_check(guest, check);
}

TEST(MachineChecks, AnUpgradedMachineMayGetItsArgumentsAtTheNextBoot) {
    CommitFacts facts = some_facts();
    facts.kernel_arguments = {"quiet", "stage=2"};
    const std::vector<Check> checks = image_checks(facts, {}, Arrival::upgraded);
    const auto upgraded = std::find_if(checks.begin(), checks.end(), [](const Check& check) {
        return check.name == "kernel-arguments";
    });
    ASSERT_NE(upgraded, checks.end());
    const Check installed = check_named(facts, "kernel-arguments");
    EXPECT_EQ(judged_arguments(installed, "quiet stage=2", "").text,
              "the kernel has 2 arguments of the commit");
    EXPECT_EQ(judged_arguments(*upgraded, "stage=2 quiet", "").text,
              "the kernel has 2 arguments of the commit");
    CheckResult result = judged_arguments(*upgraded, "quiet stage=1", "a quiet stage=2");
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(result.text,
              "the next boot gets the arguments of the commit; this one differs in: stage=2");
    result = judged_arguments(*upgraded, "quiet stage=1", "quiet stage=20");
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "arguments of the commit that the kernel was started without: stage=2");
    EXPECT_THAT(result.details,
                ElementsAre("/proc/cmdline: quiet stage=1", "of the next boot: quiet stage=20"));
    EXPECT_EQ(judged_arguments(installed, "quiet stage=1", "quiet stage=2").verdict,
              Verdict::failed);
}

TEST(MachineChecks, ArgumentsOfTheCommitBeforeHaveToGo) {
    CommitFacts facts = some_facts();
    facts.kernel_arguments = {"stage=2"};
    CommitFacts before = some_facts();
    before.kernel_arguments = {"stage=1", "only='$(touch /tmp/edgegpu-was-here)'", "stage=2"};
    const Check check = changed_arguments_check(facts, before);
    EXPECT_EQ(judged_arguments(check, "stage=2 stage=11", "").verdict, Verdict::passed);
    const CheckResult result = judged_arguments(check, "stage=2 stage=1", "stage=2");
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text,
              "arguments that the commit has no more, and the kernel was started with: stage=1");
    facts.kernel_arguments = std::vector<std::string>{};
    EXPECT_EQ(changed_arguments_check(facts, before).skipped, "");
    EXPECT_EQ(changed_arguments_check(facts, facts).skipped,
              "the commit has no kernel arguments of its own");
}

TEST(MachineChecks, AfterAnUpgradeHomeDirectoriesHaveTheLabelsThatProgramsGaveThem) {
    const std::string programs = R"(
restorecon() {
    echo 'Would relabel /etc/.pwd.lock from a:b:c:s0 to a:b:d:s0'
    echo 'Would relabel /var/home/a/.local/share/with blank from a:b:c:s0 to a:b:d:s0'
    echo 'Would relabel /var/roothome/.cache from a:b:c:s0 to a:b:d:s0'
    [ -z "$WRONG" ] || echo "Would relabel $WRONG from a:b:c:s0 to a:b:d:s0"
}
[() { case $* in *selinux*) return 0 ;; *) builtin [ "$@" ;; esac }
)";
    const auto ask = [&](Arrival arrival, const std::string& wrong) {
        LocalGuest guest;
        guest.programs = "WRONG='" + wrong + "'" + programs;
        const std::vector<Check> checks = image_checks(some_facts(), {}, arrival);
        return run_check(guest,
                         *std::find_if(checks.begin(), checks.end(),
                                       [](const Check& check) { return check.name == "labels"; }))
            .text;
    };
    EXPECT_EQ(ask(Arrival::installed, ""), "labels that the policy does not have for the path: 2");
    EXPECT_EQ(ask(Arrival::upgraded, ""), "the labels of /etc and /var are those of the policy");
    EXPECT_EQ(ask(Arrival::upgraded, "/var/home/a"),
              "labels that the policy does not have for the path: 1");
    EXPECT_EQ(ask(Arrival::upgraded, "/var/lib/x /var/home/a/b"),
              "labels that the policy does not have for the path: 1");
}

TEST(MachineChecks, DenialsAreComparedWithTheAllowList) {
    LocalGuest guest;
    guest.programs = R"(
journalctl() {
    echo 'audit: type=1400 audit(1.1:1): avc:  denied  { read } for  pid=1 comm="a" tclass=file'
    echo 'AVC avc:  denied  { read } for  pid=1 comm="a" tclass=file'
    echo 'AVC avc:  denied  { write } for  pid=2 comm="[b]" tclass=dir'
    echo 'nothing was denied here'
}
[() { case $* in *selinux* | *audit.log*) return 0 ;; *) builtin [ "$@" ;; esac }
)";
    const auto ask = [&](const std::vector<AllowedDenial>& allowed) {
        return run_check(guest, check_named(some_facts(), "selinux-denials", allowed));
    };
    const CheckResult none = ask({});
    EXPECT_EQ(none.text, "SELinux denied something in this boot: 2 denials");
    EXPECT_EQ(none.verdict, Verdict::failed);
    EXPECT_EQ(none.details.size(), 2U);
    const CheckResult one = ask({{"comm=\"a\"*tclass=file", "known"}});
    EXPECT_EQ(one.text,
              "SELinux denied something in this boot: 1 denial; 1 denial of the allow list");
    const CheckResult all = ask({{"{ read }", "known"}, {"{ write }", "known, too"}});
    EXPECT_EQ(all.verdict, Verdict::passed) << all.text;
    EXPECT_EQ(all.text, "SELinux denied nothing in this boot; 2 denials of the allow list");
}

constexpr const char* fake_systemctl = R"(
systemctl() {
    case $* in
        'is-active multi-user.target') echo active ;;
        'is-active '*) echo inactive ;;
        'show -p ActiveState good.service') echo ActiveState=active ;;
        'show -p ActiveState once.service') echo ActiveState=inactive ;;
        'show -p Result once.service') echo Result=success ;;
        'show -p Type once.service') echo Type=oneshot ;;
        'show -p ExecMainExitTimestamp once.service') echo 'ExecMainExitTimestamp=Mon' ;;
        'show -p ActiveState unmet.service') echo ActiveState=inactive ;;
        'show -p ConditionResult unmet.service') echo ConditionResult=no ;;
        'show -p ConditionTimestamp unmet.service') echo ConditionTimestamp=Mon ;;
        'show -p ActiveState bad.service') echo ActiveState=failed ;;
        'show -p '*) echo "$3=" ;;
        status*) echo "status of ${*: -1}" ;;
    esac
}
journalctl() { echo "journal of ${*: -1}"; }
)";

TEST(MachineChecks, EnabledUnitsHaveToBeActiveOrDone) {
    LocalGuest guest;
    guest.programs = fake_systemctl;
    CommitFacts facts = some_facts();
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
        "enabled by the image, but not active: bad.service is failed, gone.service is not there");
    EXPECT_THAT(result.details, testing::Contains("journal of bad.service"));
}

TEST(MachineChecks, BlacklistedModulesAreNamed) {
    LocalGuest guest;
    guest.programs = R"(
grep() {
    if [ "${*: -1}" = /proc/modules ]; then
        command grep "${@:1:$#-1}" <<<'nouveau 1 0 - Live'
    else
        command grep "$@"
    fi
}
journalctl() { :; })";
    CommitFacts facts = some_facts();
    facts.blacklisted_modules = {"a", "b", "c", "d"};
    EXPECT_EQ(run_check(guest, check_named(facts, "blacklisted-modules")).text,
              "no blacklisted module is loaded (4 modules: a, b, c, …)");
    facts.blacklisted_modules = {"nouveau"};
    const CheckResult result = run_check(guest, check_named(facts, "blacklisted-modules"));
    EXPECT_EQ(result.text, "blacklisted, but loaded: nouveau");
    EXPECT_THAT(result.details, ElementsAre(HasSubstr("nouveau 1 0")));
}

}  // namespace
}  // namespace edgegpu
