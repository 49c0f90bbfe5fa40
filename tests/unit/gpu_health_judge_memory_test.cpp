#include "gpu_health/judge/memory.hpp"

#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

Facts booted_commit(const std::string& commit) {
    Facts facts;
    facts.commit = commit;
    facts.runs["presence"] = {};
    return facts;
}

Judgement judged(Verdict verdict, const std::string& fault, unsigned working) {
    Judgement judgement;
    judgement.verdict = verdict;
    judgement.working = working;
    if (verdict != Verdict::healthy) {
        Finding note;
        note.fault = "note";
        note.note = true;
        Finding finding;
        finding.verdict = verdict;
        finding.fault = fault;
        judgement.findings = {note, finding};
        judgement.deciding = 1;
    }
    return judgement;
}

TEST(GpuHealthMemoryTest, RemembersHealthAndTheFaultOfTheNewestBoot) {
    Memory memory;
    memory = remember(memory, booted_commit("a"), judged(Verdict::healthy, "", 2));
    EXPECT_TRUE(memory.commits.at("a").healthy);
    EXPECT_EQ(memory.commits.at("a").serial, 1U);
    memory = remember(memory, booted_commit("b"), judged(Verdict::image, "module-missing", 0));
    EXPECT_FALSE(memory.commits.at("b").healthy);
    EXPECT_EQ(memory.commits.at("b").fault, "module-missing");
    EXPECT_EQ(memory.commits.at("b").serial, 2U);
    memory = remember(memory, booted_commit("a"), judged(Verdict::hardware, "xid-79", 0));
    EXPECT_TRUE(memory.commits.at("a").healthy) << "it worked once";
    EXPECT_EQ(memory.commits.at("a").fault, "xid-79");
    EXPECT_EQ(memory.commits.at("a").serial, 3U);
    memory = remember(memory, booted_commit("a"), judged(Verdict::healthy, "", 1));
    EXPECT_EQ(memory.commits.at("a").fault, "");
}

TEST(GpuHealthMemoryTest, WhatWasNotSeenIsNotHealthy) {
    Facts failed = booted_commit("a");
    failed.runs["nvml"].error = "fork failed";
    EXPECT_FALSE(remember({}, failed, judged(Verdict::healthy, "", 1)).commits.at("a").healthy);
    Facts hung = booted_commit("a");
    hung.runs["cdi"].hung = true;
    EXPECT_FALSE(remember({}, hung, judged(Verdict::healthy, "", 1)).commits.at("a").healthy);
    EXPECT_FALSE(
        remember({}, booted_commit("a"), judged(Verdict::healthy, "", 0)).commits.at("a").healthy)
        << "no GPU worked";
    EXPECT_TRUE(remember({}, booted_commit(""), judged(Verdict::image, "x", 0)).commits.empty())
        << "no commit, nothing to remember";
}

TEST(GpuHealthMemoryTest, KeepsTwentyCommitsAndNeverLosesTheBootedOne) {
    Memory memory;
    for (int i = 0; i < 50; ++i) {
        memory = remember(memory, booted_commit("c" + std::to_string(i)),
                          judged(Verdict::healthy, "", 1));
        EXPECT_EQ(memory.commits.count("c" + std::to_string(i)), 1U);
        EXPECT_LE(memory.commits.size(), 20U);
    }
    EXPECT_EQ(memory.commits.size(), 20U);
    EXPECT_EQ(memory.commits.count("c30"), 1U);
    EXPECT_EQ(memory.commits.count("c29"), 0U);
}

/// Two deployments, boot after boot, as greenboot does it: red after an update goes back.
TEST(GpuHealthMemoryTest, NoSequenceOfFaultsGoesBackTwice) {
    const std::vector<std::pair<Verdict, std::string>> faults{{Verdict::healthy, ""},
                                                              {Verdict::image, "module-missing"},
                                                              {Verdict::image, "nouveau-bound"},
                                                              {Verdict::unclear, "gsp-init"}};
    Settings settings;
    settings.fail_on_unclear = true;
    // The old commit worked once, or never did.
    std::vector<std::pair<std::pair<Verdict, std::string>, bool>> old_faults;
    for (const auto& fault : faults) {
        old_faults.emplace_back(fault, true);
        old_faults.emplace_back(fault, false);
    }
    for (const auto& new_fault : faults) {
        for (const auto& [old_fault, worked] : old_faults) {
            Memory memory;
            if (worked) {
                memory = remember(memory, booted_commit("old"), judged(Verdict::healthy, "", 1));
            }
            std::string commit = "new";
            unsigned rollbacks = 0;
            for (int boot = 0; boot < 20; ++boot) {
                const auto& [verdict, fault] = commit == "new" ? new_fault : old_fault;
                Judgement judgement = judged(verdict, fault, verdict == Verdict::healthy);
                bool red = false;
                if (judgement.deciding >= 0) {
                    red = outcome_of(judgement.findings.at(1), false, commit, settings, memory).red;
                }
                judgement.red = red;
                memory = remember(memory, booted_commit(commit), judgement);
                if (red) {
                    commit = commit == "new" ? "old" : "new";
                    ++rollbacks;
                }
            }
            EXPECT_LE(rollbacks, 1U)
                << new_fault.second << ", " << old_fault.second << (worked ? ", worked" : "");
            EXPECT_EQ(rollbacks > 0, new_fault.first != Verdict::healthy);
        }
    }
}

TEST(GpuHealthMemoryTest, HardwareAndMachineAreNeverRed) {
    Settings settings;
    settings.fail_on_unclear = true;
    settings.fail_on_missing_gpu = true;
    for (const Verdict verdict : {Verdict::hardware, Verdict::machine}) {
        Finding finding;
        finding.verdict = verdict;
        finding.fault = "xid-79";
        EXPECT_FALSE(outcome_of(finding, false, "a", settings, {}).red);
        EXPECT_FALSE(outcome_of(finding, false, "", settings, {}).red);
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
