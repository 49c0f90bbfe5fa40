#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health/report/report.hpp"

namespace edgegpu::gpu_health {
namespace {

using testing::HasSubstr;
using testing::Not;

Judgement dead_card() {
    Judgement judgement;
    judgement.verdict = Verdict::hardware;
    judgement.reason = "a card that is gone is no fault of the image";
    judgement.findings = {{Step::kernel_log, Verdict::hardware, "xid-79", "0000:65:00.0",
                           "the GPU has fallen off the bus", "switch the machine off and on"}};
    judgement.deciding = 0;
    judgement.lines[Step::presence] = "presence: 1 GPU: 10de:2335";
    return judgement;
}

TEST(GpuHealthReportText, JournalHasALineForEachStepAndTheVerdict) {
    Facts facts;
    facts.runs["presence"] = {3.6, false, ""};
    facts.runs["nvml"] = {45000, true, "it did not end in time"};
    facts.runs["cdi"] = {1, false, "sysfs is not mounted"};
    EXPECT_EQ(journal_text(facts, dead_card()),
              "presence: 1 GPU: 10de:2335 (4 ms)\n"
              "nvml: did not end within its deadline (45000 ms)\n"
              "cdi: sysfs is not mounted (1 ms)\n"
              "verdict: hardware, green [xid-79] 0000:65:00.0: a card that is gone is no fault of "
              "the image\n"
              "what to do: switch the machine off and on\n");
}

TEST(GpuHealthReportText, JournalHasNotes) {
    Judgement judgement;
    judgement.reason = "1 GPU works";
    judgement.findings = {
        {Step::kernel_log, Verdict::unclear, "xid-31", "0000:65:00.0", "an application", "", true}};
    EXPECT_EQ(journal_text(Facts(), judgement),
              "note [xid-31] 0000:65:00.0: an application\n"
              "verdict: healthy, green: 1 GPU works\n");
}

TEST(GpuHealthReportText, JournalSaysRed) {
    Judgement judgement;
    judgement.verdict = Verdict::image;
    judgement.red = true;
    judgement.reason = "nouveau has the card";
    EXPECT_EQ(journal_text(Facts(), judgement), "verdict: image, red: nouveau has the card\n");
}

TEST(GpuHealthReportText, WhatTheMachineSaysDrivesNoTerminal) {
    Judgement judgement = dead_card();
    judgement.findings[0].text = "first\nverdict: healthy\x1b[2J";
    judgement.findings[0].device = "0000\n";
    judgement.findings[0].action = "\x1b]0;x\x07";
    judgement.lines[Step::module] = "a\nb\r\x9b";
    judgement.reason = "\xff";
    for (const std::string& text : {journal_text(Facts(), judgement),
                                    explanation(Facts(), judgement), motd_text(judgement)}) {
        EXPECT_THAT(text, Not(HasSubstr("\x1b")));
        EXPECT_THAT(text, Not(HasSubstr("\x07")));
        EXPECT_THAT(text, Not(HasSubstr("\nverdict: healthy")));
        EXPECT_THAT(text, Not(HasSubstr("\xff")));
    }
}

TEST(GpuHealthReportText, ExplanationHasFindingsBelowTheirStep) {
    Facts facts;
    facts.commit = "abc";
    facts.runs["kernel-log"] = {2, false, ""};
    Judgement judgement = dead_card();
    judgement.lines[Step::kernel_log] = "1 message";
    EXPECT_EQ(explanation(facts, judgement),
              "GPU health of this machine\n"
              "  commit abc\n"
              "\n"
              "  presence    1 GPU: 10de:2335\n"
              "  kernel-log  1 message (2 ms)\n"
              "    hardware [xid-79] 0000:65:00.0: the GPU has fallen off the bus\n"
              "      what to do: switch the machine off and on\n"
              "      this decided\n"
              "\n"
              "Verdict: hardware (a fault of the hardware).\n"
              "Green, the image stays: a card that is gone is no fault of the image.\n");
}

TEST(GpuHealthReportText, NobodyIsGreetedWithGoodNews) {
    EXPECT_EQ(motd_text(Judgement()), "");
    EXPECT_EQ(motd_text(dead_card()),
              "GPU: a fault of the hardware.\n"
              "  [xid-79] 0000:65:00.0: the GPU has fallen off the bus\n"
              "  What to do: switch the machine off and on\n"
              "  /usr/libexec/edgegpu/gpu-health --explain tells more.\n");
}

TEST(GpuHealthReportText, AVerdictWithoutAFindingIsTold) {
    Judgement judgement;
    judgement.verdict = Verdict::unclear;
    judgement.deciding = 3;
    EXPECT_EQ(motd_text(judgement),
              "GPU: a fault whose cause is not clear.\n"
              "  /usr/libexec/edgegpu/gpu-health --explain tells more.\n");
}

}  // namespace
}  // namespace edgegpu::gpu_health
