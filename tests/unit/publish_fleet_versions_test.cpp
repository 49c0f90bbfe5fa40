#include "publish/fleet_versions.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/rpm_fixture.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using testing::HasSubstr;

class FleetVersionsTest : public testing::Test {
protected:
    const std::string one = std::string(64, '1');
    const std::string two = std::string(64, '2');

    FleetVersions read(const std::string& text) {
        const std::filesystem::path file = directory_.path() / "fleet.json";
        write_file(file, text);
        return read_fleet_versions(file);
    }
    std::string problem(const std::string& text) {
        try {
            static_cast<void>(read(text));
        } catch (const Error& failure) {
            return failure.kind() == ErrorKind::usage ? failure.message() : "another kind";
        }
        return "none";
    }

private:
    test::TemporaryDirectory directory_;
};

TEST_F(FleetVersionsTest, CountsDevices) {
    const FleetVersions fleet = read("{\"" + one + "\": 9900, \"" + two + "\": 100}");
    EXPECT_EQ(fleet.all(), 10000U);
    EXPECT_TRUE(fleet.is_worth_a_delta(one));
    EXPECT_TRUE(fleet.is_worth_a_delta(two));
    EXPECT_FALSE(fleet.is_worth_a_delta(std::string(64, '3')));
}

TEST_F(FleetVersionsTest, LessThanOneInAHundredIsNotWorthADelta) {
    EXPECT_FALSE(read("{\"" + one + "\": 9901, \"" + two + "\": 99}").is_worth_a_delta(two));
    // Nobody runs it: a report of zero devices is none.
    EXPECT_TRUE(read("{\"" + one + "\": 1, \"" + two + "\": 0}").is_worth_a_delta(one));
}

TEST_F(FleetVersionsTest, RefusesWhatIsNoFleet) {
    EXPECT_THAT(problem("[]"), HasSubstr("no JSON object"));
    EXPECT_THAT(problem("{\"" + one + "\": 5"), HasSubstr("no JSON object"));
    EXPECT_THAT(problem(""), HasSubstr("no JSON object"));
    EXPECT_THAT(problem("{}"), HasSubstr("it has no devices"));
    EXPECT_THAT(problem("{\"" + one + "\": 0}"), HasSubstr("it has no devices"));
    EXPECT_THAT(problem("{\"1.2\": 5}"), HasSubstr("\"1.2\" is not the checksum"));
    EXPECT_THAT(problem("{\"" + one + "\": 5, \"" + one + "\": 6}"), HasSubstr("two members"));
    for (const char* count :
         {"-1", "1.5", "\"5\"", "null", "[5]", "99999999999999", "1e3", "{\"a\": 1}"}) {
        EXPECT_THAT(problem("{\"" + one + "\": " + count + "}"), HasSubstr("no number of devices"))
            << count;
    }
}

}  // namespace
}  // namespace edgegpu
