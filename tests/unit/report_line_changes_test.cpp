#include "report/line_changes.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

using Lines = std::vector<std::string>;

TEST(LineChanges, OrderCommentsAndBlanksDoNotCount) {
    const LineChanges changes =
        compare_lines("a\n# one\n\n  b  \r\nc\nc\n", "c\nd\n#two\nd\n\tb\n\ne");
    EXPECT_EQ(changes.gained, (Lines{"d", "e"}));
    EXPECT_EQ(changes.lost, (Lines{"a"}));
    EXPECT_FALSE(changes.empty());
    EXPECT_TRUE(compare_lines("a\n", "\n\na").empty());
    EXPECT_TRUE(compare_lines("", "").empty());
}

}  // namespace
}  // namespace edgegpu
