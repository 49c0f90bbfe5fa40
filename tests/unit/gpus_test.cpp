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
    result.devices_location = {"b.toml", 7, 1};
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
    EXPECT_EQ(table.driver, "595.45.04");
    EXPECT_EQ(table.sources.size(), 3U);
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
              "error: b.toml:7:1: NVIDIA driver 535 does not support Tesla K80 (10de:102d): its "
              "last branch is "
              "470\n"
              "hint: set driver = \"470\"\n");
    EXPECT_EQ(refusal(gpu_request("470.256.02", {"10de:102d"})), "accepted");
    EXPECT_EQ(refusal(gpu_request("latest", {"10de:102d"})), "accepted");
}

TEST(Gpus, ACardNewerThanTheBranchIsRefused) {
    EXPECT_EQ(refusal(gpu_request("535.261.03", {"10de:20b7", "10de:2901"})),
              "error: b.toml:7:1: NVIDIA driver 535 does not support NVIDIA B200 (10de:2901): its "
              "first branch is "
              "570\n"
              "hint: set driver = \"570\" or a later branch\n");
}

TEST(Gpus, ACardWithoutOpenModulesEndsWithBranch580) {
    EXPECT_EQ(refusal(gpu_request("580", {"10de:1db4"})), "accepted");
    const std::string text = refusal(gpu_request("590", {"10de:1db4"}));
    EXPECT_NE(text.find("its last branch is 580"), std::string::npos) << text;
}

TEST(Gpus, TheFlavorMustFitTheCard) {
    EXPECT_EQ(refusal(gpu_request("570", {"10de:2901"}, DriverFlavor::proprietary)),
              "error: b.toml:7:1: NVIDIA B200 (10de:2901) needs the open kernel modules: the "
              "proprietary ones "
              "of driver 570 do not support it\n"
              "hint: set flavor = \"open\" or \"auto\" in [nvidia]\n");
    EXPECT_EQ(
        refusal(gpu_request("570", {"10de:1db4"}, DriverFlavor::open)),
        "error: b.toml:7:1: Tesla V100-PCIE-16GB / Tesla V100-PCIE-16GB-LS (10de:1db4) needs the "
        "proprietary kernel modules: the open ones of driver 570 do not support it\n"
        "hint: set flavor = \"proprietary\" or \"auto\" in [nvidia]\n");
    EXPECT_EQ(refusal(gpu_request("570", {"10de:1db4", "10de:2901"})),
              "error: b.toml:7:1: no kernel modules support both NVIDIA B200 (10de:2901) and Tesla "
              "V100-PCIE-16GB "
              "/ Tesla V100-PCIE-16GB-LS (10de:1db4): the first needs the open ones, the second "
              "the proprietary ones\n"
              "hint: build an image for each, from two blueprints\n");
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
                  "b.toml:7:1: edgegpu's GPU table (of drivers up to 595.45.04) does not "
                  "have 10de:ffff: not checked"}));
    EXPECT_EQ(
        refusal(gpu_request("535", {"10de:ffff"}), true),
        "error: b.toml:7:1: 10de:ffff is not in edgegpu's GPU table (of drivers up to 595.45.04), "
        "and not in "
        "edgegpu's GPU table\n"
        "hint: compare it with what 'lspci -d 10de: -n' shows on a device; a newer driver may "
        "support it\n");
}

TEST(Gpus, TheShippedTableHasTheCardsOfDataCentersAndWorkstations) {
    const GpuTable table = shipped_gpus();
    for (const auto& [id, text, branches] :
         {std::tuple{"10de:1eb8", "Tesla T4 (10de:1eb8)", "any"},
          {"10de:1bb3", "Tesla P4 (10de:1bb3)", "up to 580"},
          {"10de:25b6", "NVIDIA A16 / NVIDIA A2 (10de:25b6)", "any"},
          {"10de:2236", "NVIDIA A10 (10de:2236)", "any"},
          {"10de:20b7", "NVIDIA A30 (10de:20b7)", "any"},
          {"10de:20f1", "NVIDIA A100-PCIE-40GB (10de:20f1)", "any"},
          {"10de:20b5", "NVIDIA A100 80GB PCIe (10de:20b5)", "any"},
          {"10de:27b8", "NVIDIA L4 (10de:27b8)", "520 and later"},
          {"10de:26b5", "NVIDIA L40 (10de:26b5)", "520 and later"},
          {"10de:26b9", "NVIDIA L40S (10de:26b9)", "520 and later"},
          {"10de:2331", "NVIDIA H100 PCIe (10de:2331)", "520 and later"},
          {"10de:2230", "NVIDIA RTX A6000 (10de:2230)", "any"},
          {"10de:2231", "NVIDIA RTX A5000 (10de:2231)", "any"},
          {"10de:2531", "NVIDIA RTX A2000 (10de:2531)", "any"},
          {"10de:2bb5", "NVIDIA RTX PRO 6000 Blackwell Server Edition (10de:2bb5)",
           "570 and later"},
          {"10de:2e12", "NVIDIA GB10 (10de:2e12)", "580 and later"}}) {
        const Gpu* gpu = table.find(id);
        ASSERT_NE(gpu, nullptr) << id;
        EXPECT_EQ(gpu->text(), text);
        EXPECT_EQ(gpu->branches(), branches) << text;
    }
    // They are no PCI devices; their PCI ids are those of bridges and controllers.
    for (const char* id : {"10de:229e", "10de:1ad3", "10de:2b00"}) {
        EXPECT_EQ(table.find(id), nullptr) << id;
    }
    EXPECT_TRUE(match_gpus(table, "Jetson").empty());
    EXPECT_TRUE(match_gpus(table, "Orin").empty());
    EXPECT_EQ(match_gpus(table, "Tesla T4").size(), 1U);
}

TEST(Gpus, NoNameIsOfAVirtualGpu) {
    for (const Gpu& gpu : shipped_gpus().gpus) {
        EXPECT_EQ(gpu.name.find("(null)"), std::string::npos) << gpu.text();
        EXPECT_FALSE(gpu.name.find("GRID T") != std::string::npos || gpu.name.ends_with("CME"))
            << gpu.text();
        EXPECT_FALSE(gpu.left_out && gpu.first_branch != 0) << gpu.text();
    }
}

/// The driver's own list, which has an A100 alone.
GpuTable own_list() {
    return read_supported_gpus(
        R"({"chips": [{"devid": "0x20B0", "name": "NVIDIA A100", "features": ["kernelopen"]}]})",
        "570.133.07", "supported-gpus.json of nvidia-driver-570.133.07");
}

// supported-gpus.json of driver 570.133.07 has no Tesla T4.
TEST(Gpus, WhatNvidiasListsLeaveOutIsAWarning) {
    const NvidiaRequest request = gpu_request("570", {"10de:1eb8"});
    EXPECT_EQ(check_devices(request, own_list(), "570.133.07", true).warnings,
              (std::vector<std::string>{
                  "b.toml:7:1: Tesla T4 (10de:1eb8) is not in supported-gpus.json of "
                  "nvidia-driver-570.133.07, "
                  "although edgegpu's GPU table has it (all branches): NVIDIA's lists leave it "
                  "out"}));
    EXPECT_TRUE(check_devices(request, shipped_gpus(), "570", false).warnings.empty());
    const NvidiaRequest old = gpu_request("590", {"10de:1bb3"});
    EXPECT_THROW(static_cast<void>(check_devices(old, shipped_gpus(), "590", false)), Error);
}

TEST(Gpus, WhatIsNewerThanTheDriverIsAnError) {
    try {
        // Released with 570.158.01: of the branch, and unknown to its older drivers.
        static_cast<void>(
            check_devices(gpu_request("570", {"10de:2d05"}), own_list(), "570.133.07", true));
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.render(),
                  "error: b.toml:7:1: NVIDIA GeForce RTX 5060 (10de:2d05) is not in "
                  "supported-gpus.json of "
                  "nvidia-driver-570.133.07, although edgegpu's GPU table has it (570 and later)\n"
                  "hint: set driver to a newer release, whose README has it among the supported "
                  "products\n");
    }
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
