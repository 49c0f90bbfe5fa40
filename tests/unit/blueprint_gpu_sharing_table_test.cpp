#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/mig_layouts.hpp"
#include "blueprint/tables/tables.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GpuSharingTableTest : public BlueprintTest {
protected:
    GpuSharingTableTest() {
        put("nvidia-device-plugin/kustomization.yaml", "resources: []\n");
        put("gpu-operator-preinstalled/kustomization.yaml", "resources: []\n");
    }
    /// With this in front of `[nvidia.mig]` and so on, which begin in line 6.
    static std::string nvidia(const std::string& devices, const std::string& text,
                              const std::string& bundles = "\"./nvidia-device-plugin\"") {
        return "distro = \"lab-12\"\n[microshift]\nbundles = [" + bundles +
               "]\n[nvidia]\ndriver = \"580\"\ndevices = [" + devices + "]\n" + text;
    }
    [[nodiscard]] Blueprint read(const std::string& devices, const std::string& text) const {
        return parse(nvidia(devices, text));
    }
    [[nodiscard]] std::string mistakes(
        const std::string& devices, const std::string& text,
        const std::string& bundles = "\"./nvidia-device-plugin\"") const {
        return failure(nvidia(devices, text, bundles));
    }
    static std::vector<std::string> components(const BundleRequest& bundle) {
        std::vector<std::string> names;
        for (const BundleComponent& each : bundle.components) {
            names.push_back(each.name);
        }
        return names;
    }
};

constexpr const char* h200 = "\"10de:2335\"";
constexpr const char* two_cards = "\"10de:2335\", \"10de:20b7\"";
constexpr const char* h200_and_t4 = "\"10de:2335\", \"10de:1eb8\"";

TEST_F(GpuSharingTableTest, NothingIsDividedOrSharedByDefault) {
    const Blueprint blueprint = read(h200, "");
    EXPECT_TRUE(blueprint.nvidia->mig.empty());
    EXPECT_FALSE(blueprint.nvidia->sharing);
    EXPECT_TRUE(blueprint.microshift.bundles[0].components.empty());
    EXPECT_TRUE(blueprint.microshift.bundles[0].patches.empty());
}

TEST_F(GpuSharingTableTest, ALayoutIsReadAndGivenToThePlugin) {
    const Blueprint blueprint =
        read(two_cards, "[nvidia.mig]\n\"10DE:2335\" = [\"3g.71gb\", \"1g.18gb+me\"]\nall = []\n");
    ASSERT_EQ(blueprint.nvidia->mig.size(), 2U);
    EXPECT_EQ(blueprint.nvidia->mig[0].device, "10de:2335");
    EXPECT_THAT(blueprint.nvidia->mig[0].profiles, ElementsAre("3g.71gb", "1g.18gb+me"));
    EXPECT_EQ(blueprint.nvidia->mig[0].location.line, 8U);
    EXPECT_EQ(blueprint.nvidia->mig[1].device, "");
    EXPECT_TRUE(blueprint.nvidia->mig[1].profiles.empty());
    const BundleRequest& plugin = blueprint.microshift.bundles[0];
    EXPECT_THAT(components(plugin), ElementsAre("mig"));
    ASSERT_EQ(plugin.patches.size(), 1U);
    EXPECT_THAT(plugin.patches[0].text, HasSubstr("MIG_STRATEGY\n              value: mixed\n"));
    EXPECT_EQ(plugin.patches[0].target->name, "nvidia-device-plugin");
}

TEST_F(GpuSharingTableTest, EqualInstancesCanBeOfferedAsGpus) {
    const Blueprint blueprint =
        read(h200,
             "[nvidia.mig]\nstrategy = \"single\"\nall = [\"3g.71gb\", \"3g.71gb\"]\n"
             "[nvidia.sharing]\nmode = \"time-slicing\"\nreplicas = 2\n");
    const BundleRequest& plugin = blueprint.microshift.bundles[0];
    EXPECT_TRUE(plugin.patches.empty()) << "the component's own strategy";
    EXPECT_THAT(blueprint.nvidia->sharing->resources, ElementsAre("nvidia.com/gpu"));
    for (const char* layouts : {"all = [\"3g.71gb\", \"4g.71gb\"]\n",
                                "\"10de:2335\" = [\"3g.71gb\"]\n\"10de:20b7\" = []\n"}) {
        EXPECT_THAT(
            mistakes(two_cards, std::string("[nvidia.mig]\nstrategy = \"single\"\n") + layouts),
            HasSubstr("b.toml:8:12: the MIG strategy \"single\" is for GPUs that are all"))
            << layouts;
    }
}

TEST_F(GpuSharingTableTest, TheOperatorsPluginGetsTheStrategy) {
    const Blueprint blueprint = parse(
        nvidia(h200, "[nvidia.mig]\nall = [\"3g.71gb\"]\n", "\"./gpu-operator-preinstalled\""));
    const BundleRequest& bundle = blueprint.microshift.bundles[0];
    EXPECT_TRUE(bundle.components.empty());
    ASSERT_EQ(bundle.patches.size(), 1U);
    EXPECT_THAT(bundle.patches[0].text, HasSubstr("  mig:\n    strategy: mixed\n"));
}

TEST_F(GpuSharingTableTest, ABlueprintsOwnPatchComesLast) {
    const std::string bundle =
        "{ bundle = \"./nvidia-device-plugin\", patches = [{ patch = \"{}\", target = { kind = "
        "\"DaemonSet\" } }] }";
    const Blueprint blueprint = parse(nvidia(h200, "[nvidia.mig]\nall = [\"3g.71gb\"]\n", bundle));
    ASSERT_EQ(blueprint.microshift.bundles[0].patches.size(), 2U);
    EXPECT_EQ(blueprint.microshift.bundles[0].patches[1].text, "{}");
}

TEST_F(GpuSharingTableTest, WhatTheCardCannotHaveIsAMistake) {
    EXPECT_EQ(mistakes(h200, "[nvidia.mig]\nall = [\"3g.71gb\", \"1g.10gb\"]\n"),
              "error: b.toml:8:7: NVIDIA H200 (10de:2335) has no MIG profile 1g.10gb\nhint: it has "
              "1g.18gb, 1g.35gb, 2g.35gb, 3g.71gb, 4g.71gb and 7g.141gb\n");
    EXPECT_EQ(
        mistakes(h200, "[nvidia.mig]\n\"10de:2335\" = [\"3g.71gb\", \"3g.71gb\", \"1g.18gb\"]\n"),
        "error: b.toml:8:15: 3g.71gb, 3g.71gb, 1g.18gb do not fit together on NVIDIA H200 "
        "(10de:2335)\nhint: 3g.71gb and 3g.71gb fit, and beside them nothing more\n");
    EXPECT_THAT(mistakes(h200_and_t4, "[nvidia.mig]\nall = [\"3g.71gb\"]\n"),
                AllOf(HasSubstr("b.toml:8:7: "), HasSubstr("(10de:1eb8) has no MIG"),
                      HasSubstr("exempt it: \"10de:1eb8\" = []")));
    EXPECT_EQ(mistakes(h200_and_t4, "[nvidia.mig]\nall = [\"3g.71gb\"]\n\"10de:1eb8\" = []\n"),
              "no error");
    EXPECT_THAT(mistakes(h200, "[nvidia.mig]\n\"10de:20b7\" = [\"1g.6gb\"]\n"),
                HasSubstr("(10de:20b7) is none of [nvidia] devices"));
    EXPECT_EQ(mistakes("", "[nvidia.mig]\n\"10de:20b7\" = [\"1g.6gb\"]\n"), "no error");
    EXPECT_EQ(mistakes("\"10de:fffe\"", "[nvidia.mig]\nall = [\"9g.999gb\"]\n"), "no error")
        << "a GPU that edgegpu does not know";
}

TEST_F(GpuSharingTableTest, WhatIsNoLayoutIsAMistake) {
    for (const char* profile : {"", "19", "MIG 1g.18gb", "1c.3g.71gb", "1g.18gb+gfx", "1g.18gb:0",
                                "1g.18gb,1g.18gb", "1g.18gb 1g.18gb"}) {
        EXPECT_THAT(mistakes(h200, "[nvidia.mig]\nall = [\"" + std::string(profile) + "\"]\n"),
                    HasSubstr("is not a MIG profile"))
            << profile;
    }
    EXPECT_THAT(mistakes("", "[nvidia.mig]\n\"8086:1234\" = []\n"), HasSubstr("not a device of"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\nalll = []\n"), HasSubstr("\"alll\" is not a PCI id"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\n"), HasSubstr("[nvidia.mig] names no GPU"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\n\"10de:2335\" = []\n\"10DE:2335\" = []\n"),
                HasSubstr("duplicate entry for 10de:2335"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\nall = \"1g.18gb\"\n"), HasSubstr("array"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\nall = [1]\n"), HasSubstr("string"));
    EXPECT_THAT(mistakes("", "[nvidia.mig]\nall = []\nstrategy = \"none\"\n"),
                HasSubstr("one of \"mixed\", \"single\""));
}

TEST_F(GpuSharingTableTest, TimeSlicingConfiguresThePlugin) {
    const Blueprint blueprint =
        read(h200, "[nvidia.sharing]\nmode = \"time-slicing\"\nreplicas = 4\n");
    EXPECT_EQ(blueprint.nvidia->sharing->mode, SharingMode::time_slicing);
    EXPECT_EQ(blueprint.nvidia->sharing->replicas, 4U);
    const BundleRequest& plugin = blueprint.microshift.bundles[0];
    EXPECT_THAT(components(plugin), ElementsAre("time-slicing"));
    ASSERT_EQ(plugin.values.size(), 1U);
    EXPECT_EQ(plugin.values[0].name, "nvidia-device-plugin-config");
    EXPECT_EQ(plugin.values[0].entries.at("config.yaml"), R"(version: v1
sharing:
  timeSlicing:
    renameByDefault: false
    failRequestsGreaterThanOne: true
    resources:
      - name: nvidia.com/gpu
        replicas: 4
)");
}

TEST_F(GpuSharingTableTest, MpsConfiguresThePlugin) {
    const Blueprint blueprint = read("", "[nvidia.sharing]\nmode = \"mps\"\nreplicas = 48\n");
    EXPECT_THAT(components(blueprint.microshift.bundles[0]), ElementsAre("mps"));
    EXPECT_EQ(blueprint.microshift.bundles[0].values[0].entries.at("config.yaml"), R"(version: v1
sharing:
  mps:
    renameByDefault: false
    resources:
      - name: nvidia.com/gpu
        replicas: 48
)");
}

TEST_F(GpuSharingTableTest, InstancesAreSharedAsTheyAreOffered) {
    const std::string mig = "[nvidia.mig]\n\"10de:2335\" = [\"3g.71gb\", \"1g.18gb+me\"]\n";
    const std::string sharing = "[nvidia.sharing]\nmode = \"time-slicing\"\nreplicas = 2\n";
    EXPECT_THAT(
        read(two_cards, mig + sharing).nvidia->sharing->resources,
        ElementsAre("nvidia.com/mig-3g.71gb", "nvidia.com/mig-1g.18gb.me", "nvidia.com/gpu"));
    EXPECT_THAT(read(h200, mig + sharing + "resources = [\"nvidia.com/mig-3g.71gb\"]\n")
                    .nvidia->sharing->resources,
                ElementsAre("nvidia.com/mig-3g.71gb"));
    EXPECT_THAT(mistakes(h200, mig + sharing + "resources = [\"nvidia.com/gpu\"]\n"),
                AllOf(HasSubstr("the device plugin does not offer nvidia.com/gpu"),
                      HasSubstr("it offers nvidia.com/mig-3g.71gb, nvidia.com/mig-1g.18gb.me")));
}

TEST_F(GpuSharingTableTest, WhatExcludesEachOtherIsAMistake) {
    const std::string mps = "[nvidia.sharing]\nmode = \"mps\"\nreplicas = 2\n";
    EXPECT_THAT(mistakes(h200, "[nvidia.mig]\nall = [\"3g.71gb\"]\n" + mps),
                AllOf(HasSubstr("b.toml:10:8: NVIDIA's device plugin has no MPS for GPUs in MIG "
                                "mode"),
                      HasSubstr("time-slicing")));
    EXPECT_EQ(mistakes(h200, "[nvidia.mig]\nall = []\n" + mps), "no error") << "MIG is off";
    const auto with = [&](const std::string& more, const std::string& text) {
        return mistakes(h200, text, "{ bundle = \"./nvidia-device-plugin\", " + more + " }");
    };
    EXPECT_THAT(with("components = [\"time-slicing\"]", mps),
                HasSubstr("[nvidia.sharing] decides about the component \"time-slicing\""));
    EXPECT_THAT(with("components = [\"mig\"]", mps), HasSubstr("has no MPS for GPUs in MIG mode"));
    EXPECT_THAT(with("components = [\"mig\"]", "[nvidia.mig]\nall = [\"3g.71gb\"]\n"),
                HasSubstr("[nvidia.mig] decides about the component \"mig\""));
    EXPECT_THAT(with("values = { nvidia-device-plugin-config = { a = \"b\" } }", mps),
                HasSubstr("[nvidia.sharing] makes the config map nvidia-device-plugin-config"));
    EXPECT_EQ(with("components = [\"nfd\"]", mps), "no error");
    EXPECT_THAT(mistakes(h200, mps, ""),
                HasSubstr("[nvidia.sharing] configures the bundle \"nvidia-device-plugin\""));
}

TEST_F(GpuSharingTableTest, WhatIsNoSharingIsAMistake) {
    EXPECT_THAT(mistakes(h200, "[nvidia.sharing]\nreplicas = 2\n"),
                HasSubstr("\"nvidia.sharing.mode\" is missing"));
    EXPECT_THAT(mistakes(h200, "[nvidia.sharing]\nmode = \"mps\"\n"),
                HasSubstr("\"nvidia.sharing.replicas\" is missing"));
    for (const char* replicas : {"0", "1", "-1", "49", "\"2\"", "2.5"}) {
        EXPECT_THAT(mistakes(h200, "[nvidia.sharing]\nmode = \"mps\"\nreplicas = " +
                                       std::string(replicas) + "\n"),
                    HasSubstr("nvidia.sharing.replicas"))
            << replicas;
    }
    EXPECT_THAT(mistakes(h200, "[nvidia.sharing]\nmode = \"both\"\nreplicas = 2\n"),
                HasSubstr("one of \"time-slicing\", \"mps\""));
    EXPECT_THAT(mistakes(h200, "[nvidia.sharing]\nmode = \"mps\"\nreplicas = 2\nmps = true\n"),
                HasSubstr("nvidia.sharing.mps"));
}

TEST(MigLayoutsTest, AnOwnEntryComesBeforeAll) {
    const std::vector<MigLayout> layouts{{"", {"1g.5gb"}, {}}, {"10de:20b7", {"1g.6gb"}, {}}};
    EXPECT_EQ(layout_of(layouts, "10de:20b7"), &layouts[1]);
    EXPECT_EQ(layout_of(layouts, "10de:20b0"), &layouts[0]);
    EXPECT_EQ(layout_of({}, "10de:20b0"), nullptr);
    const MigOffer offer = mig_offer(layouts, {});
    EXPECT_TRUE(offer.divided);
    EXPECT_FALSE(offer.whole);
    EXPECT_THAT(offer.resources, ElementsAre("nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.6gb"));
}

}  // namespace
}  // namespace edgegpu
