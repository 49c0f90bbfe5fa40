#include "support/text/percent_encoding.hpp"

#include <gtest/gtest.h>

namespace edgegpu {

TEST(PercentEncoding, StandsForBytes) {
    EXPECT_EQ(percent_decoded("/a%20b%2Fc%c3%a9"), "/a b/c\xc3\xa9");
    EXPECT_EQ(percent_decoded("100% %4 %zz %"), "100% %4 %zz %");
    EXPECT_EQ(percent_decoded("%2520"), "%20");
    EXPECT_TRUE(is_percent_encoded("%2Fx"));
    EXPECT_FALSE(is_percent_encoded("%2"));
}

}  // namespace edgegpu
