#include "microshift/version.hpp"

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

TEST(MicroshiftVersionTest, ReadsRequestsAndPackages) {
    for (const char* text :
         {"4.18", "4.18.*", "4.18.5", "4.18.5-202503121212.p0.el9", "4.18~rc.1", "4.18-1"}) {
        EXPECT_EQ(microshift_version(text), (MicroshiftVersion{4, 18})) << text;
    }
    for (const char* text : {"", "*", "4", "4.", "4.*", "4.1*", "4.x", "x4.18", "3.11.0", "6.0.0",
                             "4.99999999999999999999", "4.1000", "-4.18", "4.-1", "4. 18"}) {
        EXPECT_EQ(microshift_version(text), std::nullopt) << text;
    }
}

TEST(MicroshiftVersionTest, FiveFollowsTwentyTwo) {
    EXPECT_EQ((MicroshiftVersion{4, 22}.number() + 1), (MicroshiftVersion{5, 0}.number()));
    for (const MicroshiftVersion version : {MicroshiftVersion{4, 0}, MicroshiftVersion{4, 22},
                                            MicroshiftVersion{5, 0}, MicroshiftVersion{5, 7}}) {
        EXPECT_EQ(MicroshiftVersion::numbered(version.number()), version) << version.text();
    }
    EXPECT_EQ((MicroshiftVersion{5, 1}.text()), "5.1");
}

TEST(MicroshiftVersionTest, OfABlueprint) {
    EXPECT_EQ(requested_microshift({{"microshift-olm-4.17.*", {}}, {"jq-1.7", {}}}), std::nullopt);
    EXPECT_EQ(requested_microshift({{"microshift", {}}}), std::nullopt);
    EXPECT_EQ(requested_microshift({{"microshift-4.18.*", {}}, {"microshift-olm", {}}}),
              (MicroshiftVersion{4, 18}));
}

}  // namespace
}  // namespace edgegpu
