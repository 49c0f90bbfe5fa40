#include "support/text/shell_text.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(ShellText, AShellTakesAWordLiterally) {
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("a b\"$c`"), "'a b\"$c`'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(ShellText, ValuesAreFilledInOnce) {
    const std::map<std::string_view, std::string> values{{"A", "1"}, {"B", "@A@"}};
    EXPECT_EQ(fill_in("@A@ @B@@A@", values), "1 @A@1");
    EXPECT_EQ(fill_in("a@b @C@A@ \"$@\" @A", values), "a@b @C1 \"$@\" @A");
    EXPECT_EQ(fill_in("", values), "");
}

}  // namespace
}  // namespace edgegpu
