#include "support/text/quantity.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(Quantity, Sizes) {
    EXPECT_EQ(parse_size("0"), 0U);
    EXPECT_EQ(parse_size("1048576"), 1048576U);
    EXPECT_EQ(parse_size("20G"), 20ULL << 30U);
    EXPECT_EQ(parse_size("20 GiB"), 20ULL << 30U);
    EXPECT_EQ(parse_size("1.5k"), 1536U);
    EXPECT_EQ(parse_size("2GB"), 2000000000U);
    EXPECT_EQ(parse_size("500B"), 500U);
    EXPECT_EQ(parse_size("3T"), 3ULL << 40U);
}

TEST(Quantity, OtherTextIsNoSize) {
    for (const char* text : {"", "G", "-1G", "+1G", "1X", "1GG", "1Gi", "1,5G", "1..5G", ".", "nan",
                             "inf", "0x10", "1e3", "20 G B", "99999999999T", "1G "}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
}

TEST(Quantity, Durations) {
    using std::chrono::seconds;
    EXPECT_EQ(parse_duration("90s"), seconds(90));
    EXPECT_EQ(parse_duration("45m"), seconds(2700));
    EXPECT_EQ(parse_duration("12h"), seconds(43200));
    EXPECT_EQ(parse_duration("30d"), seconds(2592000));
    EXPECT_EQ(parse_duration("0.5 w"), seconds(302400));
    EXPECT_EQ(parse_duration("0d"), seconds(0));
}

TEST(Quantity, OtherTextIsNoDuration) {
    for (const char* text :
         {"", "30", "d", "-1d", "30D", "1d12h", "1y", "1mo", "1e9d", "999999999999w"}) {
        EXPECT_FALSE(parse_duration(text)) << text;
    }
}

}  // namespace
}  // namespace edgegpu
