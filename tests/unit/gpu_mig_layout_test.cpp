#include "gpu/mig_layout.hpp"

#include <algorithm>
#include <bitset>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu::test {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint16_t a30 = 0x20b7;
constexpr std::uint16_t a100 = 0x20b0;
constexpr std::uint16_t h200 = 0x2335;

/// "0:4 4:2"
std::string places(std::uint16_t device, const Names& profiles) {
    const auto placed = place_mig(mig_of(device), profiles);
    if (!placed) {
        return "none";
    }
    Names texts;
    for (const MigPlacement& each : *placed) {
        texts.push_back(fmt::format("{}:{}", each.start, each.size));
    }
    return fmt::format("{}", fmt::join(texts, " "));
}

TEST(MigLayoutTest, InstancesAreMadeOfProfilesWithOrWithoutMediaEngines) {
    EXPECT_EQ(mig_instance_profile("1g.18gb")->gigabytes, 18);
    EXPECT_EQ(mig_instance_profile("1g.18gb+me")->slices, 1);
    for (const char* name : {"", "1g", "1g.18gb+", "1g.18gb+me ", "1g.18gb.me", "1c.3g.71gb",
                             "01g.18gb", "1g.18gb+gfx", "1g.18GB", "-1g.18gb", "19"}) {
        EXPECT_FALSE(mig_instance_profile(name)) << name;
    }
}

TEST(MigLayoutTest, LayoutsOfTheUserGuideHaveAPlace) {
    EXPECT_EQ(places(a100, {"7g.40gb"}), "0:8");
    EXPECT_EQ(places(a100, {"4g.20gb", "3g.20gb"}), "0:4 4:4");
    EXPECT_EQ(places(a100, {"4g.20gb", "2g.10gb", "1g.5gb"}), "0:4 4:2 6:1");
    EXPECT_EQ(places(a100, {"3g.20gb", "3g.20gb"}), "0:4 4:4");
    EXPECT_EQ(places(a100, {"2g.10gb", "2g.10gb", "2g.10gb", "1g.5gb"}), "0:2 2:2 4:2 6:1");
    EXPECT_EQ(places(a100, Names(7, "1g.5gb")), "0:1 1:1 2:1 3:1 4:1 5:1 6:1");
    EXPECT_EQ(places(h200, Names(4, "1g.35gb")), "0:2 2:2 4:2 6:2");
    EXPECT_EQ(places(a30, {"2g.12gb", "1g.6gb", "1g.6gb"}), "0:2 2:1 3:1");
    EXPECT_EQ(places(a30, {"4g.24gb"}), "0:4");
    EXPECT_EQ(places(0x2bb5, {"2g.48gb", "1g.24gb", "1g.24gb"}), "0:6 6:3 9:3");
    EXPECT_EQ(places(a100, {}), "");
}

TEST(MigLayoutTest, TheOrderInTheBlueprintDoesNotDecideWhetherTheyFit) {
    // In this order nvidia-smi without placements fails: the small ones are put in the way.
    EXPECT_EQ(places(a100, {"1g.5gb", "1g.5gb", "2g.10gb", "3g.20gb"}), "2:1 3:1 0:2 4:4");
    Names profiles{"1g.18gb", "2g.35gb", "4g.71gb"};
    std::ranges::sort(profiles);
    do {
        EXPECT_NE(places(h200, profiles), "none");
    } while (std::next_permutation(profiles.begin(), profiles.end()));
}

TEST(MigLayoutTest, WhatDoesNotFitHasNoPlace) {
    // 7 slices in all, but a 3g takes the memory of four.
    EXPECT_EQ(places(a100, {"3g.20gb", "3g.20gb", "1g.5gb"}), "none");
    EXPECT_EQ(places(a100, Names(8, "1g.5gb")), "none");
    EXPECT_EQ(places(a100, Names(2, "4g.20gb")), "none");
    EXPECT_EQ(places(a100, Names(5, "1g.10gb")), "none");
    EXPECT_EQ(places(a100, {"7g.40gb", "1g.5gb"}), "none");
    EXPECT_EQ(places(a100, {"1g.5gb+me", "1g.5gb+me"}), "none") << "one has the media engines";
    EXPECT_EQ(places(a30, {"2g.12gb", "2g.12gb", "1g.6gb"}), "none");
    EXPECT_EQ(places(a100, {"1g.6gb"}), "none") << "another card's";
    EXPECT_EQ(places(0x1eb8, {"1g.5gb"}), "none") << "a T4";
    EXPECT_EQ(places(a100, Names(5000, "1g.5gb")), "none");
}

TEST(MigLayoutTest, NoTwoInstancesOfAPlacedLayoutOverlap) {
    for (const std::uint16_t device : {a30, a100, h200}) {
        const MigSupport gpu = mig_of(device);
        const auto n = gpu.profiles.size();
        for (std::size_t code = 0; code < n * n * n * n; ++code) {
            Names profiles;
            for (std::size_t rest = code; profiles.size() < 4; rest /= n) {
                profiles.push_back(gpu.profiles[rest % n].profile.text());
            }
            std::bitset<8> used;
            for (const MigPlacement& each :
                 place_mig(gpu, profiles).value_or(std::vector<MigPlacement>{})) {
                for (unsigned slice = each.start; slice < each.start + each.size; ++slice) {
                    EXPECT_FALSE(used.test(slice)) << fmt::format("{}", fmt::join(profiles, " "));
                    used.set(slice);
                }
            }
        }
    }
}

TEST(MigLayoutTest, EachProfileFitsAsOftenAsItsCardHolds) {
    for (const std::uint16_t device :
         {a30, a100, h200, std::uint16_t{0x2901}, std::uint16_t{0x2bb5}}) {
        for (const MigCapacity& each : mig_of(device).profiles) {
            const std::string name = each.profile.text();
            EXPECT_NE(places(device, Names(each.instances, name)), "none") << name;
            EXPECT_EQ(places(device, Names(each.instances + 1, name)), "none") << name;
        }
    }
}

TEST(MigLayoutTest, AMessageSaysWhatFits) {
    EXPECT_EQ(text_of_fitting(mig_of(h200), {"3g.71gb", "3g.71gb", "1g.18gb"}),
              "3g.71gb and 3g.71gb fit, and beside them nothing more");
    EXPECT_EQ(text_of_fitting(mig_of(h200), {"4g.71gb", "4g.71gb"}),
              "4g.71gb fits, and beside it one of 1g.18gb, 1g.35gb, 2g.35gb, 3g.71gb");
    EXPECT_EQ(text_of_fitting(mig_of(a30), {"3g.71gb"}), "it has 1g.6gb, 2g.12gb and 4g.24gb");
}

}  // namespace
}  // namespace edgegpu::test
