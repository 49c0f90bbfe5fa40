#include "image/id_map.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

/// What /proc/self/uid_map says in the machine's first namespace.
const IdMap whole_machine{{0, 0, 4294967295}};

TEST(IdMap, ReadsWhatTheKernelWrites) {
    const IdMap map = parse_id_map(
        "         0       1000          1\n"
        "         1     100000      65536\n");
    EXPECT_EQ(format_id_map(map), "0 1000 1\n1 100000 65536\n");
    EXPECT_TRUE(parse_id_map("0 1000\nx y z\n0 1 2 3\n0 1 99999999999\n").empty());
    EXPECT_TRUE(parse_id_map("").empty());
}

TEST(IdMap, IdsOutside) {
    const IdMap map{{0, 100000, 65535}, {65536, 1000, 1}};
    EXPECT_EQ(id_outside(map, 5), 100005U);
    EXPECT_EQ(id_outside(map, 65536), 1000U);
    EXPECT_EQ(id_outside(map, 65535), std::nullopt);
    EXPECT_EQ(id_outside(map, 65534), std::nullopt) << "as the kernel shows ids that have none";
}

TEST(IdMap, OrdinaryUsersImagesHaveTheirSubordinateIds) {
    EXPECT_EQ(format_id_map(map_for_user({{100000, 65536}}, 1000)),
              "0 100000 65535\n65536 1000 1\n");
}

TEST(IdMap, SeveralRangesAddUp) {
    EXPECT_EQ(format_id_map(map_for_user({{100000, 1000}, {300000, 0}, {200000, 70000}}, 1000)),
              "0 100000 1000\n1000 200000 64535\n65536 1000 1\n");
}

TEST(IdMap, TooFewSubordinateIdsAreNone) {
    EXPECT_TRUE(map_for_user({}, 1000).empty());
    EXPECT_TRUE(map_for_user({{100000, 65534}}, 1000).empty());
}

TEST(IdMap, RootsImagesHaveIdsThatNobodyUses) {
    // What root can reach as it is, it still can; a program of an image has none of these ids.
    EXPECT_EQ(format_id_map(map_for_root(whole_machine, {{100000, 65536}})),
              "0 1879048192 65535\n65536 0 1879048192\n");
}

TEST(IdMap, RootsImagesStayOutOfEverybodysRanges) {
    const IdMap map =
        map_for_root(whole_machine, {{1879100000, 65536}, {1879048000, 200}, {1879165536, 10}});
    ASSERT_FALSE(map.empty());
    EXPECT_EQ(map.front().outside, 1879165546U);
}

TEST(IdMap, NothingIsFreeWhereEverythingIsGivenAway) {
    EXPECT_TRUE(map_for_root(whole_machine, {{1879048192, 2415919103}}).empty());
}

TEST(IdMap, RootOfARootlessContainerHasTheLastOfItsIds) {
    EXPECT_EQ(format_id_map(map_for_root({{0, 1000, 1}, {1, 100000, 65536}}, {})),
              "0 2 65535\n65536 0 1\n");
}

TEST(IdMap, APodsNamespaceIsJustLargeEnough) {
    EXPECT_EQ(format_id_map(map_for_root({{0, 1000000, 65536}}, {})), "0 1 65535\n65536 0 1\n");
}

TEST(IdMap, AContainerOfFewIdsHasNoImage) {
    EXPECT_TRUE(map_for_root({{0, 1000, 1}}, {}).empty());
    EXPECT_TRUE(map_for_root({{0, 1000, 65535}}, {}).empty());
    // The ids must be consecutive, as there is one line for them.
    EXPECT_TRUE(map_for_root({{0, 1000, 40000}, {50000, 100000, 40000}}, {}).empty());
}

TEST(IdMap, ReadsSubordinateFiles) {
    const auto ranges =
        parse_subordinate_file("alice:100000:65536\n# x\n1001:165536:65536\nbob:\n");
    ASSERT_EQ(ranges.size(), 2U);
    EXPECT_EQ(ranges[0].first, 100000U);
    EXPECT_EQ(ranges[1].count, 65536U);
}

}  // namespace
}  // namespace edgegpu
