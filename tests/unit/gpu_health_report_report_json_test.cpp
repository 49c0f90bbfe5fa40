#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gpu_health/report/report.hpp"

namespace edgegpu::gpu_health {
namespace {

using nlohmann::json;

json report_of(const Facts& facts, const Judgement& judgement) {
    Tables tables;
    tables.date = "2026-11-29";
    return json::parse(report_json(facts, Settings(), tables, judgement));
}

TEST(GpuHealthReportJson, NamesTheFindingThatDecided) {
    Judgement judgement;
    judgement.verdict = Verdict::hardware;
    judgement.reason = "a card is gone";
    judgement.findings = {
        {Step::kernel_log, Verdict::unclear, "xid-31", "0000:65:00.0", "an application", "", true},
        {Step::kernel_log, Verdict::hardware, "xid-79", "0000:65:00.0", "gone", "cold start"}};
    judgement.deciding = 1;
    const json report = report_of(Facts(), judgement);
    EXPECT_EQ(report.at("format"), "edgegpu-gpu-health/1");
    EXPECT_EQ(report.at("verdict"), "hardware");
    EXPECT_EQ(report.at("red"), false);
    EXPECT_EQ(report.at("fault"), "xid-79");
    EXPECT_EQ(report.at("findings").at(0).at("deciding"), false);
    EXPECT_EQ(report.at("findings").at(0).at("note"), true);
    EXPECT_FALSE(report.at("findings").at(0).contains("action"));
    EXPECT_EQ(report.at("findings").at(1).at("deciding"), true);
    EXPECT_EQ(report.at("findings").at(1).at("action"), "cold start");
}

TEST(GpuHealthReportJson, FaultIsAbsentWhereNothingDecided) {
    Judgement judgement;
    EXPECT_FALSE(report_of(Facts(), judgement).contains("fault"));
    // An index without its finding is a mistake elsewhere, and none of memory here.
    judgement.deciding = 7;
    EXPECT_FALSE(report_of(Facts(), judgement).contains("fault"));
}

TEST(GpuHealthReportJson, TellsEachStepThatRanInTheirOrder) {
    Facts facts;
    facts.runs["nvml"] = {45000.5, true, "it did not end in time"};
    facts.runs["presence"] = {1.25, false, ""};
    Judgement judgement;
    judgement.lines[Step::presence] = "presence: 1 GPU";
    judgement.lines[Step::condition] = "nothing is known";
    const json steps = report_of(facts, judgement).at("steps");
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps.at(0).at("step"), "presence");
    EXPECT_EQ(steps.at(0).at("milliseconds"), 1.25);
    EXPECT_EQ(steps.at(0).at("text"), "1 GPU");
    EXPECT_EQ(steps.at(1).at("step"), "nvml");
    EXPECT_EQ(steps.at(1).at("hung"), true);
    EXPECT_EQ(steps.at(1).at("error"), "it did not end in time");
    EXPECT_EQ(steps.at(2).at("step"), "condition");
    EXPECT_FALSE(steps.at(2).contains("milliseconds"));
}

TEST(GpuHealthReportJson, JoinsWhatSysfsAndNvmlSayOfACard) {
    Facts facts;
    facts.functions.resize(2);
    facts.functions[0].address = "0000:ab:00.0";
    facts.functions[0].id = "10de:2335";
    facts.functions[0].driver = "nvidia";
    facts.functions[1].address = "0000:ac:00.0";
    NvmlGpu gpu;
    gpu.address = "00000000:AB:00.0";
    gpu.uuid = "GPU-1";
    gpu.memory = std::uint64_t{143} << 30U;
    gpu.remap_failed = false;
    facts.nvml.gpus = {gpu};
    const json cards = report_of(facts, Judgement()).at("cards");
    ASSERT_EQ(cards.size(), 2U);
    EXPECT_EQ(cards.at(0).at("uuid"), "GPU-1");
    EXPECT_EQ(cards.at(0).at("memory"), std::uint64_t{143} << 30U);
    EXPECT_EQ(cards.at(0).at("remap_failed"), false);
    EXPECT_FALSE(cards.at(0).contains("mig"));
    EXPECT_FALSE(cards.at(1).contains("uuid"));
    EXPECT_FALSE(cards.at(1).contains("driver"));
}

TEST(GpuHealthReportJson, CardsThatAreAskedForAreWanted) {
    Settings settings;
    settings.minimum = 1;
    EXPECT_EQ(json::parse(report_json(Facts(), settings, Tables(), Judgement())).at("gpus"),
              (json{{"wanted", 1}, {"found", 0}, {"working", 0}}));
    settings.devices = {"10de:2335", "10de:2335"};
    EXPECT_EQ(json::parse(report_json(Facts(), settings, Tables(), Judgement()))["gpus"]["wanted"],
              2);
}

TEST(GpuHealthReportJson, IsJsonWhateverBytesThereAre) {
    Facts facts;
    facts.commit = "\xff\xfe\x1b[31m";
    facts.functions.resize(1);
    facts.functions[0].address = std::string("\0\x80", 2);
    Judgement judgement;
    judgement.reason = "\xc3";
    judgement.lines[Step::module] = "line\nline\x07";
    EXPECT_NO_THROW(static_cast<void>(report_of(facts, judgement)));
}

}  // namespace
}  // namespace edgegpu::gpu_health
