#include "report/diff_stack.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "report/upgrade.hpp"
#include "unit/report_diff_fixture.hpp"

namespace edgegpu {
namespace {

using gpu_health::Stack;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Stack stack_of_535() {
    return {"535.1",
            "proprietary",
            "6.1.0-47",
            {{"nvidia", "/usr/lib/modules/6.1.0-47/extra/nvidia.ko", "535.1", "0A", "Lab"},
             {"nvidia_peermem", "/usr/lib/modules/6.1.0-47/extra/nvidia-peermem.ko", "", "", ""}},
            {"/usr/lib/firmware/nvidia/535.1/gsp_ga10x.bin",
             "/usr/lib/firmware/nvidia/535.1/gsp_tu10x.bin"},
            {"/usr/lib64/libcuda.so.535.1"},
            {"libnvidia-container1-1.17.0-1.x86_64", "nvidia-driver-3:535.1-1.el9.x86_64"}};
}

Stack stack_of_580() {
    return {"580.2",
            "open",
            "6.1.0-50",
            {{"nvidia", "/usr/lib/modules/6.1.0-50/extra/nvidia.ko", "580.2", "", ""},
             {"nvidia_uvm", "/usr/lib/modules/6.1.0-50/extra/nvidia-uvm.ko", "580.2", "0B", "Lab"}},
            {"/usr/lib/firmware/nvidia/580.2/gsp_ga10x.bin"},
            {"/usr/lib64/libcuda.so.580.2", "/usr/lib64/libnvidia-ml.so.580.2"},
            {"libnvidia-container1-1:1.16.0-2.x86_64", "nvidia-driver-3:580.2-1.el9.x86_64"}};
}

TEST(DiffStack, SaysOfEachPartWhatItWasAndIs) {
    EXPECT_THAT(compare_stacks(stack_of_535(), stack_of_580()),
                ElementsAre(StackChange{"driver", "", "535.1", "580.2"},
                            StackChange{"flavor", "", "proprietary", "open"},
                            StackChange{"kernel", "", "6.1.0-47", "6.1.0-50"},
                            StackChange{"module", "nvidia", "535.1", "580.2"},
                            StackChange{"module", "nvidia_peermem", "no version", ""},
                            StackChange{"module", "nvidia_uvm", "", "580.2"},
                            StackChange{"signer", "nvidia", "Lab (key 0A)", ""},
                            StackChange{"signer", "nvidia_uvm", "", "Lab (key 0B)"},
                            StackChange{"firmware", "gsp_ga10x.bin", "535.1", "580.2"},
                            StackChange{"firmware", "gsp_tu10x.bin", "535.1", ""},
                            StackChange{"library", "libcuda.so", "535.1", "580.2"},
                            StackChange{"library", "libnvidia-ml.so", "", "580.2"},
                            StackChange{"toolkit", "libnvidia-container1.x86_64", "1.17.0-1",
                                        "1:1.16.0-2"}));
    EXPECT_THAT(compare_stacks(stack_of_535(), stack_of_535()), IsEmpty());
}

TEST(DiffStack, TakesWhatItDoesNotExpect) {
    const Stack strange{"",
                        "",
                        "",
                        {{"", "", "1", "", "by"}, {"", "", "2", "7F", ""}},
                        {"", "x", "/"},
                        {"", "x", "/libcuda.so.", "/libcuda.so"},
                        {"", "nvidia-container-", "nvidia-container-toolkit"}};
    EXPECT_THAT(
        compare_stacks({}, strange),
        ElementsAre(StackChange{"module", "", "", "1, 2"}, StackChange{"signer", "", "", "by, 7F"},
                    StackChange{"toolkit", "nvidia.", "", "container-, container-toolkit"}));
}

TEST(DiffStack, BranchesAreThoseOfTwoDrivers) {
    const auto branches = [](const char* before, const char* after) {
        CommitInfo one;
        CommitInfo two;
        one.driver = before;
        two.driver = after;
        return driver_branches(one, two);
    };
    EXPECT_EQ(branches("535.1", "580.2"), "535 -> 580");
    EXPECT_EQ(branches("580.2", "535.1"), "580 -> 535");
    EXPECT_EQ(branches("535.1", "535.2"), "");
    EXPECT_EQ(branches("", "535.2"), "");
    EXPECT_EQ(branches("535.1", ""), "");
    EXPECT_EQ(branches("x", "99999999999999999999"), "");
}

class StackOfCommits : public test::ReportDiff {
protected:
    /// The newest commit has this text and driver.
    void commit_with(const std::string& json, const std::string& driver) {
        fixture_.resolution.driver_version = driver;
        if (json.empty()) {
            erase(path_);
        } else {
            fixture_.add_directory("/usr/lib/edgegpu");
            fixture_.add_file(path_, json);
        }
        fixture_.blueprint.version = std::to_string(++number_);
        commit("inputs");
    }

    /// "GPU stack" of the lines that say what was not compared.
    static std::string not_compared(const Diff& diff) {
        for (const Unknown& one : diff.unknown) {
            if (one.what == "GPU stack") {
                return one.why;
            }
        }
        return "";
    }

private:
    int number_ = 0;
    const std::string path_ = "/usr/lib/edgegpu/gpu-stack.json";
};

TEST_F(StackOfCommits, IsASectionWithWhatChanged) {
    commit_with(stack_json(stack_of_535()), "535.1");
    commit_with(stack_json(stack_of_580()), "580.2");
    const Diff found = diff();
    const std::string shown = diff_text(found, {});
    EXPECT_EQ(section(shown, "GPU stack"),
              "GPU stack: 3 added, 3 removed, 7 changed\n"
              "  ~ driver                               535.1 -> 580.2\n"
              "  ~ flavor                               proprietary -> open\n"
              "  ~ kernel                               6.1.0-47 -> 6.1.0-50\n"
              "  ~ module nvidia                        535.1 -> 580.2\n"
              "  - module nvidia_peermem                no version\n"
              "  + module nvidia_uvm                    580.2\n"
              "  - signer nvidia                        Lab (key 0A)\n"
              "  + signer nvidia_uvm                    Lab (key 0B)\n"
              "  ~ firmware gsp_ga10x.bin               535.1 -> 580.2\n"
              "  - firmware gsp_tu10x.bin               535.1\n"
              "  ~ library libcuda.so                   535.1 -> 580.2\n"
              "  + library libnvidia-ml.so              580.2\n"
              "  ~ toolkit libnvidia-container1.x86_64  1.17.0-1 -> 1:1.16.0-2\n");
    EXPECT_THAT(shown, HasSubstr("driver branch 535 -> 580\n"));
    EXPECT_THAT(diff_markdown(found), HasSubstr("\n## GPU stack\n"));
    const nlohmann::json rows = nlohmann::json::parse(diff_json(found, "/r")).at("gpu_stack");
    EXPECT_THAT(rows, SizeIs(13));
    EXPECT_EQ(rows.at(5), (nlohmann::json{{"part", "module"},
                                          {"name", "nvidia_uvm"},
                                          {"change", "added"},
                                          {"before", ""},
                                          {"after", "580.2"}}));
    EXPECT_EQ(not_compared(found), "");
    // Another tree with the same stack.
    commit_with(stack_json(stack_of_580()), "580.2");
    EXPECT_THAT(text(), Not(HasSubstr("GPU stack")));
}

TEST_F(StackOfCommits, OfACommitThatDoesNotTellIsNotCompared) {
    commit_with("", "");
    commit_with("", "");
    EXPECT_THAT(text(), Not(HasSubstr("GPU stack")));
    // It really has none: the next one brings all.
    commit_with(stack_json(stack_of_535()), "535.1");
    EXPECT_THAT(section(text(), "GPU stack"),
                HasSubstr("  + driver                               535.1\n"));
    commit_with("", "535.1");
    Diff found = diff();
    EXPECT_THAT(found.gpu_stack, IsEmpty());
    EXPECT_EQ(not_compared(found), "commit " + found.after.checksum +
                                       " has no edgegpu.gpu-stack in its metadata: an earlier "
                                       "edgegpu built it");
    EXPECT_THAT(diff_text(found, {}), HasSubstr("\nNot compared: GPU stack: commit "));
    commit_with(stack_json(stack_of_580()), "580.2");
    found = diff();
    EXPECT_THAT(found.gpu_stack, IsEmpty());
    EXPECT_THAT(not_compared(found), HasSubstr("commit " + found.before.checksum + " has no "));
    EXPECT_THAT(upgrade_cost(found).restart.at(0).reasons, ElementsAre("driver branch 535 -> 580"));
}

TEST_F(StackOfCommits, IsNotComparedIfItIsDamaged) {
    commit_with(stack_json(stack_of_535()), "535.1");
    for (const std::string& damaged :
         {std::string("{"), std::string("[]"), std::string(R"({"driver": 1})"),
          std::string(R"({"modules": [{"name": []}]})"), std::string(R"({"of-tomorrow": 1})"),
          std::string(200000, '['), std::string(200000, ' ') + R"({"x": "\u0000"})"}) {
        commit_with(damaged, "580.2");
        const Diff found = diff();
        EXPECT_THAT(found.gpu_stack, IsEmpty());
        EXPECT_THAT(not_compared(found), HasSubstr("edgegpu.gpu-stack in the metadata of commit " +
                                                   found.after.checksum + " cannot be read: "))
            << damaged.substr(0, 40);
    }
    // Two at a time.
    commit_with("{", "580.3");
    EXPECT_THAT(not_compared(diff()), HasSubstr("; edgegpu.gpu-stack"));
}

TEST_F(StackOfCommits, NamesDoNotDriveTheTerminal) {
    commit_with(stack_json(stack_of_535()), "535.1");
    Stack evil = stack_of_535();
    evil.modules.front().signer = "\033[2J";
    for (int i = 0; i < 100; ++i) {
        evil.firmware.push_back("/usr/lib/firmware/nvidia/1/" + std::to_string(i));
    }
    commit_with(stack_json(evil), "535.1");
    const std::string shown = text();
    EXPECT_THAT(shown, Not(HasSubstr("\033")));
    EXPECT_THAT(section(shown, "GPU stack"), HasSubstr("    … 41 more (--json has all)\n"));
}

}  // namespace
}  // namespace edgegpu
