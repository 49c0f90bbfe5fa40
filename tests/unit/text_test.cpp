#include "support/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;

TEST(Text, TrimTakesBlanksFromTheEndsAlone) {
    EXPECT_EQ(trim(" \t a b\r\n"), "a b");
    EXPECT_EQ(trim(" \r\n\t"), "");
    EXPECT_EQ(trim(""), "");
    EXPECT_EQ(trim("\na\n", " "), "\na\n");
}

TEST(Text, SplitKeepsEmptyParts) {
    EXPECT_THAT(split("", ','), ElementsAre(""));
    EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
    EXPECT_THAT(split("a:b", ','), ElementsAre("a:b"));
}

TEST(Text, BeginningsInAnyCase) {
    EXPECT_TRUE(begins_with_any_case("HTTPS://host", "https://"));
    EXPECT_FALSE(begins_with_any_case("http", "https://"));
    EXPECT_FALSE(begins_with_any_case("[ttp", "{ttp"));
}

TEST(Text, ADirectoryIsNotAboveItsNamesakes) {
    EXPECT_TRUE(is_below("/etc", "/etc"));
    EXPECT_TRUE(is_below("/etc/a", "/etc"));
    EXPECT_FALSE(is_below("/etcetera", "/etc"));
    EXPECT_FALSE(is_below("/", "/etc"));
}

TEST(Text, AStringOfALibraryMayBeMissing) {
    EXPECT_EQ(text_of(nullptr), "");
    EXPECT_EQ(text_of("a"), "a");
}

TEST(Text, TomlStringsEscapeWhatTomlDoesNotTake) {
    EXPECT_EQ(toml_string("a \"b\" \\ \n \x7f \xc3\xa9"),
              "\"a \\\"b\\\" \\\\ \\u000a \\u007f \xc3\xa9\"");
    EXPECT_EQ(toml_string(""), "\"\"");
}

}  // namespace
}  // namespace edgegpu
