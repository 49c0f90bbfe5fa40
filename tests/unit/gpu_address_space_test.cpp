#include "gpu/address_space.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(GpuAddressSpace, AWindowIsAPowerOfTwoWithRoomForSmallBars) {
    EXPECT_EQ(window_gib({"10de:27b8"}), 64U) << "L4: 32 GiB, and smaller ones beside them";
    EXPECT_EQ(window_gib({"10de:1b38"}), 128U);
    EXPECT_EQ(window_gib({"10de:2335"}), 512U);
    EXPECT_EQ(window_gib({"10de:1eb8"}), 2U);
    EXPECT_EQ(window_gib({"10de:2335", "10de:2335"}), 1024U);
    EXPECT_EQ(window_gib({"10de:27b8", "10de:1eb8"}), 64U);
    EXPECT_EQ(window_gib(std::vector<std::string>(8, "10de:2335")), 4096U);
    EXPECT_EQ(window_gib({}), 1U);
}

TEST(GpuAddressSpace, OfAnUnknownModelTheLargestIsAssumed) {
    for (const char* unknown : {"10de:ffff", "", "10de:", "x"}) {
        EXPECT_FALSE(largest_bar(unknown).known) << unknown;
        EXPECT_EQ(window_gib({unknown}), 512U) << unknown;
    }
    EXPECT_TRUE(largest_bar("10de:20b7").known);
    EXPECT_EQ(largest_bar("10de:20b7").gib, 32U);
}

}  // namespace
}  // namespace edgegpu
