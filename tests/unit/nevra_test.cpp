#include <gtest/gtest.h>

#include "resolve/resolution.hpp"

namespace edgegpu {
namespace {

TEST(Nevra, TextLeavesOutEpochZero) {
    const Nevra nevra{"podman", 0, "4.3.1", "1.el9", "x86_64"};
    EXPECT_EQ(nevra.evr(), "4.3.1-1.el9");
    EXPECT_EQ(nevra.text(), "podman-4.3.1-1.el9.x86_64");
}

TEST(Nevra, TextWritesOtherEpochs) {
    const Nevra nevra{"nvidia-driver", 3, "535.261.03", "1.el9", "x86_64"};
    EXPECT_EQ(nevra.text(), "nvidia-driver-3:535.261.03-1.el9.x86_64");
}

TEST(Nevra, SortsByNameFirst) {
    const Nevra first{"a", 9, "9", "9", "x86_64"};
    const Nevra second{"b", 0, "1", "1", "noarch"};
    EXPECT_LT(first, second);
}

}  // namespace
}  // namespace edgegpu
