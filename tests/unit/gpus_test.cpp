#include "gpu/gpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "resolve/gpu/devices.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

NvidiaRequest gpu_request(const std::string& driver, std::vector<std::string> devices,
                          DriverFlavor flavor = DriverFlavor::automatic) {
    NvidiaRequest result;
    result.driver = driver;
    result.devices = std::move(devices);
    result.flavor = flavor;
    result.location = {"b.toml", 7, 1};
    return result;
}

std::string refusal(const NvidiaRequest& wanted, bool own = false) {
    try {
        (void)check_devices(wanted, shipped_gpus(), wanted.driver, own);
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::unsolvable);
        return problem.render();
    }
    return "accepted";
}

TEST(Gpus, TheShippedTableIsSortedAndKnowsTheUsualCards) {
    const GpuTable table = shipped_gpus();
    EXPECT_EQ(table.driver, "570.133.07");
    EXPECT_GT(table.gpus.size(), 1000U);
    EXPECT_TRUE(std::is_sorted(table.gpus.begin(), table.gpus.end(),
                               [](const Gpu& a, const Gpu& b) { return a.device < b.device; }));
    const Gpu* a30 = table.find("10de:20b7");
    ASSERT_NE(a30, nullptr);
    EXPECT_EQ(a30->text(), "NVIDIA A30 (10de:20b7)");
    EXPECT_EQ(a30->branches(), "any");
    EXPECT_EQ(a30->modules, GpuModules::either);
    EXPECT_EQ(table.find("10de:102d")->branches(), "470 only");
    EXPECT_EQ(table.find("10de:1db4")->branches(), "up to 580");
    EXPECT_EQ(table.find("10de:2901")->branches(), "570 and later");
    EXPECT_EQ(table.find("10de:ffff"), nullptr);
    EXPECT_EQ(table.find("1234:20b7"), nullptr);
    EXPECT_EQ(table.find(""), nullptr);
}

TEST(Gpus, MatchByIdAndByPartOfAName) {
    const GpuTable table = shipped_gpus();
    EXPECT_EQ(match_gpus(table, "10DE:20B7").at(0).name, "NVIDIA A30");
    EXPECT_EQ(match_gpus(table, "20b7").size(), 1U);
    const std::vector<Gpu> hopper = match_gpus(table, "gh200");
    ASSERT_EQ(hopper.size(), 2U);
    EXPECT_EQ(hopper[0].id(), "10de:2342");
    EXPECT_EQ(match_gpus(table, "").size(), table.gpus.size());
    EXPECT_TRUE(match_gpus(table, "voodoo").empty());
}

TEST(Gpus, ALegacyCardHasOneBranch) {
    EXPECT_EQ(refusal(gpu_request("535", {"10de:102d"})),
              "error: NVIDIA driver 535 does not support Tesla K80 (10de:102d): its last branch is "
              "470\n"
              "  [nvidia] at b.toml:7:1\n"
              "hint: set driver = \"470\", or remove 10de:102d from devices\n");
    EXPECT_EQ(refusal(gpu_request("470.256.02", {"10de:102d"})), "accepted");
    EXPECT_EQ(refusal(gpu_request("latest", {"10de:102d"})), "accepted");
}

TEST(Gpus, ACardNewerThanTheBranchIsRefused) {
    EXPECT_EQ(
        refusal(gpu_request("535.261.03", {"10de:20b7", "10de:2901"})),
        "error: NVIDIA driver 535 does not support NVIDIA B200 (10de:2901): its first branch is "
        "570\n"
        "  [nvidia] at b.toml:7:1\n"
        "hint: set driver = \"570\" or a later branch, or remove 10de:2901 from devices\n");
}

TEST(Gpus, ACardWithoutOpenModulesEndsWithBranch580) {
    EXPECT_EQ(refusal(gpu_request("580", {"10de:1db4"})), "accepted");
    const std::string text = refusal(gpu_request("590", {"10de:1db4"}));
    EXPECT_NE(text.find("its last branch is 580"), std::string::npos) << text;
}

TEST(Gpus, TheFlavorMustFitTheCard) {
    EXPECT_EQ(refusal(gpu_request("570", {"10de:2901"}, DriverFlavor::proprietary)),
              "error: NVIDIA B200 (10de:2901) needs the open kernel modules: the proprietary ones "
              "of driver 570 do not support it\n"
              "  [nvidia] at b.toml:7:1\n"
              "hint: set flavor = \"open\" or \"auto\" in [nvidia]\n");
    EXPECT_EQ(refusal(gpu_request("570", {"10de:1db4"}, DriverFlavor::open)),
              "error: Tesla V100-PCIE-16GB / Tesla V100-PCIE-16GB-LS (10de:1db4) needs the "
              "proprietary kernel modules: the open ones of driver 570 do not support it\n"
              "  [nvidia] at b.toml:7:1\n"
              "hint: set flavor = \"proprietary\" or \"auto\" in [nvidia]\n");
    EXPECT_EQ(
        refusal(gpu_request("570", {"10de:1db4", "10de:2901"})),
        "error: no kernel modules support both NVIDIA B200 (10de:2901) and Tesla V100-PCIE-16GB "
        "/ Tesla V100-PCIE-16GB-LS (10de:1db4): the one needs the open, the other the "
        "proprietary ones\n"
        "  [nvidia] at b.toml:7:1\n"
        "hint: use a blueprint for each\n");
}

TEST(Gpus, TheCardsDecideAboutAnAutomaticFlavor) {
    const GpuTable table = shipped_gpus();
    const auto flavor = [&](const std::vector<std::string>& devices) {
        return check_devices(gpu_request("570", devices), table, "570", false).flavor;
    };
    EXPECT_EQ(flavor({"10de:2901"}), DriverFlavor::open);
    EXPECT_EQ(flavor({"10de:1db4", "10de:20b7"}), DriverFlavor::proprietary);
    EXPECT_EQ(flavor({"10de:20b7"}), DriverFlavor::automatic);
}

TEST(Gpus, AnUnknownCardIsAWarningUnlessTheTableIsTheDriversOwn) {
    const DeviceVerdict verdict =
        check_devices(gpu_request("535", {"10de:ffff"}), shipped_gpus(), "535", false);
    EXPECT_EQ(verdict.warnings,
              (std::vector<std::string>{
                  "10de:ffff is not in the list of GPUs of driver 570.133.07: check in the "
                  "supported products of driver 535 that it is supported"}));
    EXPECT_EQ(refusal(gpu_request("535", {"10de:ffff"}), true),
              "error: NVIDIA driver 535 does not support device 10de:ffff\n"
              "  [nvidia] at b.toml:7:1\n"
              "hint: a newer branch may: edgegpu gpus 10de:ffff; or remove it from devices\n");
}

TEST(Gpus, SupportedGpusFollowsTheRules) {
    const GpuTable table = read_supported_gpus(
        R"({"chips": [
            {"devid": "0x0020", "name": "Old", "legacybranch": "71.86.xx", "features": []},
            {"devid": "0x0030", "name": "Volta", "features": ["hdmi4k"]},
            {"devid": "0x0010", "name": "Either", "subdevid": "0x1",
             "features": ["kernelopen", "gsp_proprietary_supported"]},
            {"devid": "0x0010", "name": "Either 2",
             "features": ["kernelopen", "gsp_proprietary_supported"]},
            {"devid": "0x0040", "name": "Open", "features": ["kernelopen"]},
            {"devid": "0x0050", "name": "Odd", "features": ["kernelopen"]},
            {"devid": "0x0050", "name": "Odd", "features": []}]})",
        "1.2", "x.json");
    ASSERT_EQ(table.gpus.size(), 5U);
    EXPECT_EQ(table.find("10de:0010")->name, "Either / Either 2");
    EXPECT_EQ(table.find("10de:0020")->branches(), "71 only");
    EXPECT_EQ(table.find("10de:0030")->branches(), "up to 580");
    EXPECT_EQ(table.find("10de:0040")->modules, GpuModules::open);
    EXPECT_EQ(table.find("10de:0050")->modules, GpuModules::unclear);
    EXPECT_EQ(table.find("10de:0050")->name, "Odd");
}

TEST(Gpus, WhatIsNoSuchListIsRefused) {
    for (const char* text :
         {"", "{", "[]", "{\"chips\": 1}", "{\"chips\": [{}]}",
          "{\"chips\": [{\"devid\": \"0xzzzz\", \"name\": \"x\", \"features\": []}]}",
          "{\"chips\": [{\"devid\": 5, \"name\": \"x\", \"features\": []}]}"}) {
        try {
            (void)read_supported_gpus(text, "1", "x.json");
            ADD_FAILURE() << text;
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::fetch);
            EXPECT_TRUE(problem.message().starts_with("x.json: not a list of supported GPUs: "))
                << problem.message();
        }
    }
}

}  // namespace
}  // namespace edgegpu
