#include "gpu_health/facts.hpp"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::gpu_health {
namespace {

using testing::StartsWith;
using testing::ThrowsMessage;

std::string source(const std::string& name) {
    std::ifstream file(std::string(EDGEGPU_SOURCE_DIR) + "/src/gpu_health/" + name);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

Facts some_facts() {
    Facts facts;
    facts.commit = std::string(64, 'a');
    facts.kernel = "6.1.0-47-amd64";
    facts.virtual_machine = true;
    facts.stack =
        Stack{"580.159.04", "open",    "6.1.0-47-amd64", {{"nvidia", "/m.ko", "1", "AB", "CN=x"}},
              {"/f.bin"},   {"/l.so"}, {"p-1-1.x86_64"}};
    facts.functions = {PciFunction{}, PciFunction{}};
    facts.functions[0].address = "0000:65:00.0";
    facts.functions[1].unassigned_bars = {1, 3};
    facts.trust.secure_boot = false;
    facts.proc_gpus = {{"0000:65:00.0", "NVIDIA H200", 0, "580.159.04", true}};
    facts.firmware = {{"/f.bin", true, 0xffffffffffffffffULL}};
    facts.kernel_log = {{1, "NVRM: \"quoted\" \\ \xc3\xa4"}};
    facts.nodes.emplace_back().open_error = "";
    facts.nvml.end = ChildEnd::hung;
    facts.nvml.gpus.emplace_back().recovery_action = 0;
    facts.workloads = {{"direct", ChildEnd::crashed, 11, "t", "f", -3, 2}};
    facts.runs["nvml"] = {12.5, true, ""};
    return facts;
}

TEST(GpuHealthFacts, AreTheSameAfterWritingAndReading) {
    const Facts facts = some_facts();
    EXPECT_EQ(read_facts(facts_json(facts)), facts);
    EXPECT_EQ(facts_json(facts), facts_json(read_facts(facts_json(facts))));
    EXPECT_EQ(read_facts(facts_json({})), Facts{});
}

TEST(GpuHealthFacts, LeaveOutWhatHasItsDefaultValue) {
    EXPECT_EQ(facts_json({}), "{\n \"format\": 1\n}\n");
    // Present but empty differs from not there.
    Facts facts;
    facts.stack.emplace();
    facts.trust.secure_boot = false;
    EXPECT_EQ(read_facts(facts_json(facts)), facts);
}

/// A member that the list of fields lacks would be lost without a word.
TEST(GpuHealthFacts, HaveEveryMemberOfTheHeaderInTheirJson) {
    for (const auto& [header, list, least] : {std::tuple("facts.hpp", "facts.cpp", 100U),
                                              std::tuple("stack.hpp", "stack_fields.hpp", 12U),
                                              std::tuple("settings.hpp", "settings.cpp", 17U)}) {
        const std::string fields = source(list);
        const std::regex member(R"(^    [\w:<>, ]+ (\w+)( = [^;(]+)?;)");
        const std::regex start(R"(^struct (\w+) \{)");
        std::istringstream lines(source(header));
        std::string structure;
        unsigned count = 0;
        std::smatch found;
        for (std::string line; std::getline(lines, line);) {
            if (std::regex_search(line, found, start)) {
                structure = found[1];
            } else if (std::regex_search(line, found, member) &&
                       line.find("return") == std::string::npos) {
                const std::string name = found[1];
                const std::size_t begin = fields.find("struct FieldsOf<" + structure + ">");
                ASSERT_NE(begin, std::string::npos) << structure;
                const std::string own = fields.substr(begin, fields.find("};", begin) - begin);
                EXPECT_TRUE(std::regex_search(own, std::regex("&T::" + name + "\\b")))
                    << structure << "::" << name;
                ++count;
            }
        }
        EXPECT_GE(count, least) << header;
    }
}

TEST(GpuHealthFacts, RefuseWhatIsNoRecord) {
    const std::string start = "it is not what gpu-health --record gives: ";
    const auto refused = [&](const std::string& text, const std::string& why) {
        EXPECT_THAT([&] { static_cast<void>(read_facts(text)); },
                    ThrowsMessage<std::runtime_error>(StartsWith(start + why)))
            << text;
    };
    refused("", "it is no JSON");
    refused("{} x", "it is no JSON");
    refused("[]", "it is no object");
    refused("7", "it is no object");
    refused(R"({"functionz": []})", "functionz: there is no such member");
    refused(R"({"functions": {}})", "functions: it is no array");
    refused(R"({"functions": [{}, {"adress": ""}]})",
            "functions[1].adress: there is no such member");
    refused(R"({"functions": [null]})", "functions[0]: it is no object");
    refused(R"({"commit": 7})", "commit: it is no text");
    refused(R"({"commit": null})", "commit: it is no text");
    refused(R"({"virtual_machine": 1})", "virtual_machine: it is neither true nor false");
    refused(R"({"nvml": {"end": "gone"}})", "nvml.end: it is none of the words");
    refused(R"({"nvml": {"end": 3}})", "nvml.end: it is none of the words");
    refused(R"({"nvml": {"code": 2147483648}})", "nvml.code: it must be from");
    refused(R"({"nvml": {"code": 1.5}})", "nvml.code: it is no whole number");
    refused(R"({"nodes": [{"major": -1}]})", "nodes[0].major: it must be from 0");
    refused(R"({"firmware": [{"size": 18446744073709551616}]})",
            "firmware[0].size: it is no whole");
    refused(R"({"runs": {"nvml": 1}})", "runs.nvml: it is no object");
    refused(R"({"format": 2})", "format: only 1 is known");
    // Deep enough to exhaust a stack that recurses.
    refused(std::string(200'000, '['), "it is no JSON");
}

TEST(GpuHealthFacts, AreNoneWhenTheirTextIsCutAnywhere) {
    const std::string text = facts_json(some_facts());
    for (std::size_t size = 0; size + 2 < text.size(); ++size) {
        EXPECT_THROW(static_cast<void>(read_facts(text.substr(0, size))), std::runtime_error)
            << size;
    }
}

TEST(GpuHealthFacts, SurviveBytesThatAreNotUtf8) {
    Facts facts;
    facts.kernel_log = {{0, "NVRM: \xff\xfe"}};
    EXPECT_THAT(read_facts(facts_json(facts)).kernel_log.at(0).text,
                StartsWith("NVRM: \xef\xbf\xbd"));
}

}  // namespace
}  // namespace edgegpu::gpu_health
