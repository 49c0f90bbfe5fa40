#include "support/text/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

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

TEST(Text, TrimEndLeavesTheBeginning) {
    EXPECT_EQ(trim_end(" a \t\r\n"), " a");
    EXPECT_EQ(trim_end(" \n"), "");
    EXPECT_EQ(trim_end("a \n\n", "\n"), "a ");
}

TEST(Text, LinesEndWithANewlineOrTheText) {
    EXPECT_THAT(lines_of(""), IsEmpty());
    EXPECT_THAT(lines_of("\n"), ElementsAre(""));
    EXPECT_THAT(lines_of("a\n\nb\r\n"), ElementsAre("a", "", "b\r"));
    EXPECT_THAT(lines_of("a\nb"), ElementsAre("a", "b"));
}

TEST(Text, ALineIsTakenWithItsNewline) {
    std::string_view text = "a\n\nb";
    EXPECT_EQ(take_line(text), "a");
    EXPECT_EQ(take_line(text), "");
    EXPECT_EQ(text, "b");
    EXPECT_EQ(take_line(text), "b");
    EXPECT_EQ(take_line(text), "");
}

TEST(Text, WordsAreNeverEmpty) {
    EXPECT_THAT(words_of(""), IsEmpty());
    EXPECT_THAT(words_of(" \t\r\n"), IsEmpty());
    EXPECT_THAT(words_of(" a\t bc\n"), ElementsAre("a", "bc"));
    EXPECT_THAT(words_of(",a b,,c", ","), ElementsAre("a b", "c"));
}

TEST(Text, LastLinesLeaveOutEmptyOnes) {
    EXPECT_THAT(last_lines("", 2), IsEmpty());
    EXPECT_THAT(last_lines("\n\n", 2), IsEmpty());
    EXPECT_THAT(last_lines("a\nb\n\nc\n\n", 2), ElementsAre("b", "c"));
    EXPECT_THAT(last_lines("a\nb", 5), ElementsAre("a", "b"));
    EXPECT_THAT(last_lines("a\nb", 0), IsEmpty());
}

TEST(Text, HexadecimalIsInTheCaseThatIsAskedFor) {
    EXPECT_EQ(hexadecimal(std::string_view("\x00\x0a\xff", 3)), "000aff");
    EXPECT_EQ(upper_hexadecimal("\x0a\xff"), "0AFF");
    EXPECT_TRUE(is_hexadecimal("000aff"));
    EXPECT_FALSE(is_hexadecimal("000AFF"));
    EXPECT_FALSE(is_hexadecimal("0g"));
    EXPECT_FALSE(is_hexadecimal(""));
    EXPECT_TRUE(is_sha256(std::string(64, 'a')));
    EXPECT_FALSE(is_sha256(std::string(63, 'a')));
    EXPECT_FALSE(is_sha256(std::string(64, 'A')));
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
