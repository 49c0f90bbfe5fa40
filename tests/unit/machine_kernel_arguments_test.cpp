// What the script does with the arguments of the running kernel and of the next one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/rehearsal/checks.hpp"
#include "machine_guests.hpp"

namespace edgegpu {
namespace {

using test::check_named;
using test::LocalGuest;
using test::some_commit_facts;
using testing::ElementsAre;
using testing::HasSubstr;

/// In a guest whose kernel was started with `running`, and whose boot loader starts the next one
/// with `next`.
CheckResult judged_arguments(const Check& check, const std::string& running,
                             const std::string& next) {
    LocalGuest guest;
    guest.put("/proc/cmdline", running + '\n');
    guest.put("/boot/loader/entries/ostree-*.conf", "version 2\noptions ostree=/x " + next);
    return run_check(guest, check);
}

TEST(MachineKernelArguments, ParametersCannotLeaveTheirQuotes) {
    CommitFacts facts = some_commit_facts();
    facts.kernel_arguments = {"a='$(touch /tmp/edgegpu-was-here)'", "console=ttyS0"};
    const CheckResult result =
        judged_arguments(check_named(facts, "kernel-arguments"),
                         "BOOT a='$(touch /tmp/edgegpu-was-here)' quiet", "");
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text,
              "arguments of the commit that the kernel was started without: console=ttyS0");
}

TEST(MachineKernelArguments, AnUpgradedMachineMayGetItsArgumentsAtTheNextBoot) {
    CommitFacts facts = some_commit_facts();
    facts.kernel_arguments = {"quiet", "stage=2"};
    CommitFacts before = some_commit_facts();
    before.kernel_arguments = {"stage=1"};
    const Check upgraded = check_named(facts, "kernel-arguments", {}, &before);
    const Check installed = check_named(facts, "kernel-arguments");
    EXPECT_EQ(judged_arguments(installed, "quiet stage=2", "").text,
              "the kernel has 2 arguments of the commit");
    EXPECT_EQ(judged_arguments(upgraded, "stage=2 quiet", "").text,
              "the kernel has 2 arguments of the commit");
    CheckResult result = judged_arguments(upgraded, "quiet stage=1", "a quiet stage=2");
    EXPECT_EQ(result.verdict, Verdict::passed);
    EXPECT_EQ(
        result.text,
        "the next boot gets the arguments of the commit; this one differs in: stage=2 stage=1");
    result = judged_arguments(upgraded, "quiet stage=1", "quiet stage=20");
    EXPECT_EQ(result.verdict, Verdict::failed);
    EXPECT_EQ(result.text, "arguments of the commit that the kernel was started without: stage=2");
    EXPECT_THAT(result.details, ElementsAre(HasSubstr(": quiet stage=1"),
                                            "of the next boot: ostree=/x quiet stage=20"));
    EXPECT_EQ(judged_arguments(installed, "quiet stage=1", "quiet stage=2").verdict,
              Verdict::failed);
}

TEST(MachineKernelArguments, AMachineWhoseCommitBeforeSetsThemHasItsArgumentsInTheFirstBoot) {
    CommitFacts facts = some_commit_facts();
    facts.kernel_arguments = {"stage=2"};
    CommitFacts before = some_commit_facts();
    before.kernel_arguments = {"stage=1"};
    before.sets_next_arguments = true;
    const Check upgraded = check_named(facts, "kernel-arguments", {}, &before);
    EXPECT_EQ(judged_arguments(upgraded, "stage=2", "").verdict, Verdict::passed);
    EXPECT_EQ(judged_arguments(upgraded, "stage=1", "stage=2").verdict, Verdict::failed);
    EXPECT_EQ(judged_arguments(upgraded, "stage=1 stage=2", "stage=2").text,
              "arguments that the commit has no more, and the kernel was started with: stage=1");
}

TEST(MachineKernelArguments, ArgumentsOfTheCommitBeforeHaveToGo) {
    CommitFacts facts = some_commit_facts();
    facts.kernel_arguments = {"stage=2"};
    CommitFacts before = some_commit_facts();
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

}  // namespace
}  // namespace edgegpu
