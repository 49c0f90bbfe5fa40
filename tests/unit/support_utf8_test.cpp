#include "support/text/utf8.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(Utf8, CharactersHaveOneFormEach) {
    EXPECT_EQ(first_character("a\xff").code, U'a');
    EXPECT_EQ(first_character("\xc2\x80").code, U'\x80');
    EXPECT_EQ(first_character("\xe2\x80\xae!").code, U'\x202e');
    EXPECT_EQ(first_character("\xf4\x8f\xbf\xbf").code, U'\x10ffff');
    EXPECT_EQ(first_character("\xf0\x90\x80\x80").size, 4U);
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
          "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x80", "\xe2(\xae", "\xff"}) {
        EXPECT_EQ(first_character(bad).size, 0U) << bad;
        EXPECT_FALSE(is_utf8(bad)) << bad;
        EXPECT_FALSE(is_utf8(std::string("ok ") + bad)) << bad;
    }
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8(std::string("\0 \xc3\x9f", 4)));
}

}  // namespace
}  // namespace edgegpu
