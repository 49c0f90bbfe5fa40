#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "gpu_health/judge/verdict.hpp"

namespace edgegpu::gpu_health {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

json read_json_file(const fs::path& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    return json::parse(file);
}

fs::path case_directory() {
    return fs::path(EDGEGPU_SOURCE_DIR) / "tests/data/gpu_health";
}

const json& case_machines() {
    static const json machines = read_json_file(case_directory() / "machines.json");
    return machines;
}

void change(json& facts, const json& changes) {
    if (changes.contains("merge")) {
        facts.merge_patch(changes["merge"]);
    }
    if (changes.contains("set")) {
        for (const auto& [pointer, value] : changes["set"].items()) {
            facts[json::json_pointer(pointer)] = value;
        }
    }
}

/// The facts of a case: its machine, then the patches it names, then its own changes.
Facts facts_of_case(const json& one) {
    json facts = case_machines()["machines"].at(one.at("base").get<std::string>())["facts"];
    for (const json& name : one.value("with", json::array())) {
        change(facts, case_machines()["patches"].at(name.get<std::string>()));
    }
    change(facts, one);
    std::uint64_t time = 9000000;
    for (const json& line : one.value("log", json::array())) {
        facts["kernel_log"].push_back({{"microseconds", ++time}, {"text", line}});
    }
    return read_facts(facts.dump());
}

Settings settings_of_case(const json& one) {
    const json& base = case_machines()["machines"].at(one.at("base").get<std::string>());
    return read_settings(read_settings({}, base["settings"].dump()),
                         one.value("settings", json::object()).dump());
}

Memory memory_of_case(const json& one, const std::string& commit) {
    Memory memory;
    const json records = one.value("memory", json::object());
    for (const auto& [name, record] : records.items()) {
        memory.commits[name == "this" ? commit : name] = {
            record.value("healthy", false), record.value("fault", ""), record.value("serial", 0U),
            record.value("red", false)};
    }
    return memory;
}

std::string fault_of(const Judgement& judgement) {
    return judgement.deciding < 0
               ? ""
               : judgement.findings.at(static_cast<std::size_t>(judgement.deciding)).fault;
}

std::string told(const Judgement& judgement) {
    std::ostringstream text;
    text << name_of(judgement.verdict) << (judgement.red ? ", red" : ", not red") << ", "
         << fault_of(judgement) << ", " << judgement.working << " work; " << judgement.reason;
    for (const Finding& finding : judgement.findings) {
        text << "\n    " << name_of(finding.step) << ": " << name_of(finding.verdict)
             << (finding.note ? " (note) " : " ") << finding.fault << " " << finding.device << ": "
             << finding.text;
    }
    return text.str();
}

/// What the judge says otherwise than the case; empty: nothing.
std::string disagreement(const json& one, const Tables& tables) {
    const Facts facts = facts_of_case(one);
    const Judgement judgement =
        judge(facts, settings_of_case(one), tables, memory_of_case(one, facts.commit));
    const bool agrees = one.at("verdict") == name_of(judgement.verdict) &&
                        one.at("red") == judgement.red && one.at("fault") == fault_of(judgement) &&
                        one.value("working", judgement.working) == judgement.working;
    return agrees ? "" : told(judgement);
}

std::vector<json> all_cases() {
    std::vector<json> cases;
    for (const fs::directory_entry& entry : fs::directory_iterator(case_directory())) {
        if (entry.path().filename().string().starts_with("cases_")) {
            for (json one : read_json_file(entry.path())) {
                one["file"] = entry.path().filename().string();
                cases.push_back(std::move(one));
            }
        }
    }
    return cases;
}

TEST(GpuHealthJudgeTest, AgreesWithEveryCase) {
    const Tables tables = shipped_tables();
    const std::vector<json> cases = all_cases();
    std::size_t disagreements = 0;
    for (const json& one : cases) {
        const std::string told_instead = disagreement(one, tables);
        if (!told_instead.empty()) {
            ++disagreements;
            ADD_FAILURE() << one.at("file") << " " << one.at("name") << "\n  expected "
                          << one.at("verdict") << (one.at("red") == true ? ", red, " : ", ")
                          << one.at("fault") << " (" << one.at("why").get<std::string>()
                          << ")\n  the judge says " << told_instead;
        }
    }
    EXPECT_GE(cases.size(), 300U);
    EXPECT_EQ(disagreements, 0U);
}

TEST(GpuHealthJudgeTest, EveryCaseNamesItsSourceAndAReason) {
    std::set<std::string> names;
    std::size_t named = 0;
    for (const json& one : all_cases()) {
        EXPECT_FALSE(one.at("source").get<std::string>().empty()) << one.at("name");
        EXPECT_FALSE(one.at("why").get<std::string>().empty()) << one.at("name");
        const std::string name =
            one.at("file").get<std::string>() + one.at("name").get<std::string>();
        EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
        named += one.at("source").get<std::string>().starts_with("own") ? 0 : 1;
    }
    EXPECT_GE(named, 150U) << "cases from public sources";
}

/// Every row of the tables that counts decides in a case, or is named as one that cannot.
TEST(GpuHealthJudgeTest, CasesCoverTheTables) {
    const Tables tables = shipped_tables();
    std::string lines;
    std::set<int> codes;
    std::set<std::string> faults;
    for (const json& one : all_cases()) {
        for (const KernelMessage& message : facts_of_case(one).kernel_log) {
            lines += message.text + "\n";
        }
        codes.insert(facts_of_case(one).nvml.code);
        faults.insert(one.at("fault").get<std::string>());
    }
    for (const MessageRow& row : tables.messages) {
        if (row.verdict != "note") {
            const bool in_fault = faults.count(row.fault) > 0;
            const bool in_xid = row.fault == "gsp-timeout";
            EXPECT_TRUE(in_fault || in_xid) << row.piece << ": no case for " << row.fault;
        }
    }
    for (const auto& [code, row] : tables.nvml) {
        if (row.verdict != "note") {
            EXPECT_TRUE(codes.count(code) > 0) << "NVML " << code;
        }
    }
}

TEST(GpuHealthJudgeTest, AFaultOfItsOwnIsNeverRed) {
    const Tables tables = shipped_tables();
    json base;
    base["base"] = "h200";
    base["settings"] = {{"fail_on_unclear", true}, {"fail_on_missing_gpu", true}};
    for (const Step step : all_steps) {
        json one = base;
        one["set"] = {{"/runs/" + std::string(name_of(step)), {{"error", "out of memory"}}}};
        const Facts facts = facts_of_case(one);
        const Judgement judgement = judge(facts, settings_of_case(one), tables, {});
        EXPECT_FALSE(judgement.red) << told(judgement);
        EXPECT_EQ(judgement.verdict, Verdict::healthy) << told(judgement);
    }
}

TEST(GpuHealthJudgeTest, WithoutTablesAHealthyMachineIsHealthy) {
    json one;
    for (const auto& [name, machine] : case_machines()["machines"].items()) {
        one["base"] = name;
        const Judgement judgement = judge(facts_of_case(one), settings_of_case(one), {}, {});
        EXPECT_EQ(judgement.verdict, Verdict::healthy) << name << told(judgement);
        EXPECT_TRUE(machine.contains("what"));
    }
}

TEST(GpuHealthJudgeTest, EmptyFactsAreHealthyOnlyByNotKnowing) {
    const Judgement judgement = judge({}, {}, shipped_tables(), {});
    EXPECT_EQ(judgement.verdict, Verdict::healthy);
    EXPECT_EQ(judgement.working, 0U);
    EXPECT_TRUE(judgement.lines.empty());
    Facts facts;
    facts.commit = "c";
    EXPECT_FALSE(remember({}, facts, judgement).commits.at("c").healthy);
}

TEST(GpuHealthJudgeTest, HasALineForEachStepThatRan) {
    json one;
    one["base"] = "h200";
    Facts facts = facts_of_case(one);
    facts.module.signer = "two\nlines\x1b[2J";
    facts.runs.erase("workload");
    facts.runs["cdi"].error = "no such directory";
    const Judgement judgement = judge(facts, settings_of_case(one), shipped_tables(), {});
    EXPECT_EQ(judgement.lines.size(), all_steps.size() - 1);
    EXPECT_EQ(judgement.lines.at(Step::presence),
              "presence: 2 GPUs (10de:2335 at 0000:65:00.0, 10de:2335 at 0000:66:00.0)");
    EXPECT_EQ(judgement.lines.at(Step::version),
              "version: 580.159.04 is loaded, the image has 580.159.04");
    EXPECT_EQ(judgement.lines.at(Step::cdi), "cdi: not known: no such directory");
    for (const auto& [step, line] : judgement.lines) {
        EXPECT_EQ(line.find_first_of("\n\x1b"), std::string::npos) << line;
    }
}

TEST(GpuHealthJudgeTest, FindingsAreInTheOrderOfTheSteps) {
    const Tables tables = shipped_tables();
    for (const json& one : all_cases()) {
        const Judgement judgement = judge(facts_of_case(one), settings_of_case(one), tables, {});
        for (std::size_t i = 1; i < judgement.findings.size(); ++i) {
            EXPECT_LE(judgement.findings[i - 1].step, judgement.findings[i].step) << one["name"];
        }
        for (const Finding& finding : judgement.findings) {
            EXPECT_NE(finding.verdict, Verdict::healthy) << one["name"];
            EXPECT_FALSE(finding.text.ends_with('.')) << finding.text;
        }
        EXPECT_FALSE(judgement.reason.empty()) << one["name"];
    }
}

}  // namespace
}  // namespace edgegpu::gpu_health
