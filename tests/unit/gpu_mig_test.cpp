#include "gpu/mig.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(Mig, Profiles) {
    for (const auto& [name, text] :
         std::vector<std::pair<const char*, const char*>>{{"1g.10gb", "1g.10gb"},
                                                          {"1c.3g.20gb", "3g.20gb"},
                                                          {"1g.10gb.me", "1g.10gb"},
                                                          {"1g.24gb-me", "1g.24gb"},
                                                          {"7g.141gb", "7g.141gb"}}) {
        const std::optional<MigProfile> profile = mig_profile(name);
        ASSERT_TRUE(profile.has_value()) << name;
        EXPECT_EQ(profile->text(), text);
    }
    for (const char* name : {"", "1g", "g.10gb", "1g.gb", "1g.10gbx", "small", "1g.10", "-1g.5gb",
                             "99999999999g.10gb"}) {
        EXPECT_FALSE(mig_profile(name).has_value()) << name;
    }
}

TEST(Mig, OfGpus) {
    const auto instances = [](std::uint16_t device, const char* profile) {
        return mig_of(device).instances_of(*mig_profile(profile));
    };
    EXPECT_EQ(instances(0x20b7, "1g.6gb"), 4U) << "A30";
    EXPECT_EQ(instances(0x20b7, "1g.5gb"), 0U);
    EXPECT_EQ(instances(0x20b7, "1g.10gb"), 0U);
    EXPECT_EQ(instances(0x20b0, "1g.5gb"), 7U) << "A100 40 GB";
    EXPECT_EQ(instances(0x20b0, "1g.6gb"), 0U);
    EXPECT_EQ(instances(0x20b0, "3g.40gb"), 0U);
    EXPECT_EQ(instances(0x20b2, "3g.40gb"), 2U) << "A100 80 GB";
    EXPECT_EQ(instances(0x2330, "1g.10gb"), 7U) << "H100";
    EXPECT_EQ(instances(0x2941, "3g.95gb"), 2U) << "about the same as 3g.93gb";
    EXPECT_EQ(instances(0x2bb5, "2g.48gb"), 2U) << "RTX PRO 6000";
}

TEST(Mig, WhatIsKnown) {
    EXPECT_TRUE(mig_of(0x1eb8).known) << "T4";
    EXPECT_TRUE(mig_of(0x1eb8).profiles.empty());
    EXPECT_TRUE(mig_of(0x2684).known) << "RTX 4090";
    EXPECT_FALSE(mig_of(0x20b3).known) << "an A100 with 64 GB";
    EXPECT_FALSE(mig_of(0x2bb1).known) << "RTX PRO 6000 Workstation Edition";
    EXPECT_FALSE(mig_of(0x3fff).known);
}

}  // namespace
}  // namespace edgegpu
