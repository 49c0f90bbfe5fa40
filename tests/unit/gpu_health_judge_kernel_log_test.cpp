#include <random>

#include <gtest/gtest.h>

#include "gpu_health/judge/examination.hpp"

namespace edgegpu::gpu_health {
namespace {

/// What a log is judged as, without looking at anything else.
std::vector<Found> found_in_log(const std::vector<std::string>& lines) {
    static const Tables tables = shipped_tables();
    Facts facts;
    facts.runs["kernel-log"] = {};
    PciFunction gpu;
    gpu.address = "0000:65:00.0";
    facts.functions = {gpu};
    for (const std::string& line : lines) {
        facts.kernel_log.push_back({facts.kernel_log.size(), line});
    }
    const Settings settings;
    Examination examination{facts, settings, tables, {}};
    judge_kernel_log(examination);
    return examination.found;
}

TEST(GpuHealthKernelLogTest, ReadsAddressesOfAllForms) {
    constexpr const char* audio =
        "snd_hda_intel 0000:65:00.1: Unable to change power state from D3cold to D0, device "
        "inaccessible";
    for (const std::string line :
         {"NVRM: Xid (PCI:0000:65:00): 79, x", "NVRM: Xid (PCI:0000:65:00.0): 79, x",
          "NVRM: Xid (0000:65:00): 79, x", "[   12.3] NVRM: Xid (PCI:0000:65:00): 79",
          "NVRM: GPU 0000:65:00.0: GPU has fallen off the bus.", audio}) {
        const auto found = found_in_log({line});
        ASSERT_EQ(found.size(), 1U) << line;
        EXPECT_EQ(found[0].finding.device, "0000:65:00.0") << line;
        EXPECT_EQ(found[0].finding.verdict, Verdict::hardware) << line;
    }
}

TEST(GpuHealthKernelLogTest, OtherDevicesAreNotTheGpu) {
    EXPECT_TRUE(found_in_log({"pci 0000:09:00.0: BAR 0: no space for [mem size 0x100000]",
                              "nvme 0000:0a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal)"})
                    .empty());
}

TEST(GpuHealthKernelLogTest, CountsWhatComesAgain) {
    const std::vector<std::string> lines(1000, "NVRM: Xid (PCI:0000:65:00): 62, 1d6e");
    const auto found = found_in_log(lines);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].finding.text.find("(1000 times)"), std::string::npos);
}

TEST(GpuHealthKernelLogTest, MalformedLinesAreNothing) {
    for (const std::string line : {"NVRM: Xid", "NVRM: Xid (", "NVRM: Xid (PCI:0000:65:00",
                                   "NVRM: Xid (PCI:0000:65:00):", "NVRM: Xid (PCI:0000:65:00): x79",
                                   "NVRM: Xid (): ", "Xid (PCI:):", "",
                                   "NVRM: Xid (PCI:0000:65:00): 99999999999999999999, too large"}) {
        EXPECT_TRUE(found_in_log({line}).empty()) << line;
    }
}

TEST(GpuHealthKernelLogTest, HostileTextStaysOneLine) {
    const auto found =
        found_in_log({"NVRM: Xid (PCI:0000:65:00): 79, name=\x1b[2J\x01 evil\n\nNVRM: more\r" +
                      std::string(100000, 'x')});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].finding.text.find_first_of("\n\r\x1b\x01"), std::string::npos);
    EXPECT_LT(found[0].finding.text.size(), 300U);
}

TEST(GpuHealthKernelLogTest, AnApplicationsNameDoesNotDecide) {
    // A process may have any name: the first piece that fits is the Xid's own form.
    const auto found = found_in_log(
        {"NVRM: Xid (PCI:0000:65:00): 13, pid=7, name=GPU has fallen off the bus, Graphics"});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].finding.note);
}

TEST(GpuHealthKernelLogTest, TakesAnyBytes) {
    std::mt19937 random(26);
    const std::string pieces[] = {
        "NVRM: ", "Xid (", "PCI:0000:65:00", "): ",     "79",  "\n", "0000:65:00.0", "S",
        ":",      "-1",    "154, GPU",       ") to 0x", "\xff"};
    for (int i = 0; i < 3000; ++i) {
        std::string line;
        for (unsigned count = random() % 12; count > 0; --count) {
            line += pieces[random() % std::size(pieces)];
        }
        for (const Found& found : found_in_log({line, line + "x"})) {
            EXPECT_FALSE(found.finding.fault.empty());
        }
    }
}

TEST(GpuHealthKernelLogTest, AHugeLogIsReadInGoodTime) {
    // 100,000 messages of different kinds; what is slow here would be seen by everybody.
    std::vector<std::string> lines;
    lines.reserve(20000);
    for (int i = 0; i < 20000; ++i) {
        lines.push_back("NVRM: Xid (PCI:0000:65:00): " + std::to_string(i) + ", x");
    }
    EXPECT_EQ(found_in_log(lines).size(), 20000U);
}

}  // namespace
}  // namespace edgegpu::gpu_health
