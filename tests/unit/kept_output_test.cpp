#include "execution/kept_output.hpp"

#include <string>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(KeptOutput, AllOfWhatFits) {
    KeptOutput output(16);
    EXPECT_EQ(output.text(), "");
    output.append("01234");
    output.append("56789\n");
    output.append("abcde");
    EXPECT_EQ(output.text(), "0123456789\nabcde");
    EXPECT_EQ(output.total(), 16U);
}

TEST(KeptOutput, BothEndsOfWhatDoesNotFit) {
    KeptOutput output(20);
    for (int i = 0; i < 1000; ++i) {
        output.append("line " + std::to_string(i) + '\n');
    }
    EXPECT_EQ(output.total(), 8890U);
    EXPECT_EQ(output.text(), "line 0\n[8874 bytes are left out here]\nline 999\n");
}

TEST(KeptOutput, NothingOfALineThatWasCut) {
    // Split over many writes, with a secret across the cut.
    KeptOutput output(64);
    const std::string secret = "http://ann:" + std::string(50, 's') + "@host";
    for (const char c : "first\n" + secret + "\n" + secret + "\nlast\n") {
        output.append({&c, 1});
    }
    EXPECT_EQ(output.text(), "first\n[134 bytes are left out here]\nlast\n");
    KeptOutput one_line(64);
    one_line.append(std::string(1U << 20U, 's'));
    EXPECT_EQ(one_line.text(), "[1048576 bytes are left out here]\n");
}

TEST(KeptOutput, HoldsNoMoreThanItsLimit) {
    KeptOutput output(1000);
    output.append(std::string(5000, 'a') + '\n');
    const std::string text = std::string(100, 'b') + '\n';
    for (int i = 0; i < 100; ++i) {
        output.append(text);
    }
    EXPECT_LT(output.text().size(), 1100U);
    EXPECT_EQ(output.total(), 15101U);
}

}  // namespace
}  // namespace edgegpu
