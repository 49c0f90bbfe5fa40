#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/tables/tables.hpp"
#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view beginning =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n[accounts]\nlogin = \"none\"\n[ostree]\n"
    "url = \"https://e.example/repo\"\n";

class UpdatesTableTest : public BlueprintTest {
protected:
    /// The error of checking a blueprint with this in `[updates]`, from line 12 on.
    [[nodiscard]] std::string mistakes(const std::string& text) const {
        return failure(std::string(beginning) + "[updates]\n" + text, true);
    }
};

TEST_F(UpdatesTableTest, HasDefaults) {
    EXPECT_FALSE(parse(std::string(beginning)).updates.has_value());
    const UpdatesRequest updates = parse(std::string(beginning) + "[updates]\n").updates.value();
    EXPECT_EQ(updates.policy, UpdatePolicy::apply);
    EXPECT_EQ(updates.check_every, 3600U);
    EXPECT_EQ(updates.spread, 0U);
    EXPECT_FALSE(updates.rollouts);
    EXPECT_EQ(updates.max_download, 0U);
    EXPECT_TRUE(updates.windows.empty());
}

TEST_F(UpdatesTableTest, IsRead) {
    const UpdatesRequest updates = parse(std::string(beginning) + R"([updates]
policy = "download"
check_every = "30m"
spread = "2d"
rollouts = true
max_download = "300 MB"
time_zone = "Europe/Berlin"
lock = "https://locks.example/"
lock_group = "site-7"
report_to = "http://reports.example:8080/edge"
proxy = "http://proxy.example:3128"
[[updates.windows]]
days = ["Sun", "Sat", "Sun"]
start = "22:30"
length = "8h"
[[updates.windows]]
start = "00:00"
length = "15m"
)")
                                       .updates.value();
    EXPECT_EQ(updates.policy, UpdatePolicy::download);
    EXPECT_EQ(updates.check_every, 1800U);
    EXPECT_EQ(updates.spread, 172800U);
    EXPECT_TRUE(updates.rollouts);
    EXPECT_EQ(updates.max_download, 300'000'000U);
    EXPECT_EQ(updates.lock, "https://locks.example/");
    EXPECT_EQ(updates.lock_group, "site-7");
    EXPECT_EQ(updates.report_to, "http://reports.example:8080/edge");
    EXPECT_EQ(updates.proxy, "http://proxy.example:3128");
    ASSERT_EQ(updates.windows.size(), 2U);
    EXPECT_THAT(updates.windows[0].days, ElementsAre(Weekday::saturday, Weekday::sunday));
    EXPECT_EQ(updates.windows[0].start, "22:30");
    EXPECT_EQ(updates.windows[0].minutes, 480U);
    EXPECT_TRUE(updates.windows[1].days.empty());
}

TEST_F(UpdatesTableTest, MistakesAreAllTold) {
    const std::string told = mistakes(R"(policy = "always"
check_every = "1m"
spread = "often"
lock = "locks.example"
lock_group = "a b"
report_to = "https://user:secret@reports.example/"
proxy = "http://"
[[updates.windows]]
days = ["Saturday"]
start = "24:00"
length = "10m"
[[updates.windows]]
start = "2:00"
)");
    for (const char* const part :
         {":12:10: \"updates.policy\" must be", ":13:15: \"updates.check_every\" must be from 5 to",
          ":14:10: \"updates.spread\" is not a duration", ":15:8: \"updates.lock\" must be a URL",
          ":16:14: \"a b\" is not the name",
          ":17:13: \"updates.report_to\" has a user or a password",
          ":18:9: \"updates.proxy\" must be a URL", ":20:9: there is no day \"Saturday\"",
          ":21:9: \"24:00\" is not a time", ":22:10: \"updates.windows.length\" must be from 15",
          "\"2:00\" is not a time", "length"}) {
        EXPECT_THAT(told, HasSubstr(part));
    }
    EXPECT_THAT(told, Not(HasSubstr("secret")));
    EXPECT_THAT(mistakes("max_download = \"1T\"\n"), HasSubstr("more than any version has"));
    EXPECT_THAT(mistakes("max_download = \"much\"\n"), HasSubstr("max_download"));
    EXPECT_THAT(mistakes("time_zone = \"UTC\"\n"), HasSubstr("a time zone without windows"));
}

TEST_F(UpdatesTableTest, PlansThatNobodyVerifiesAreAWarning) {
    const std::string_view updates = "[updates]\nrollouts = true\n";
    EXPECT_THAT(warnings_of(std::string(beginning) + std::string(updates)),
                Contains(HasSubstr("b.toml:11:1: rollouts without gpg_public_key")));
    EXPECT_THAT(warnings_of(std::string(beginning) + "[updates]\n"),
                Not(Contains(HasSubstr("rollouts"))));
}

TEST_F(UpdatesTableTest, NeedAServer) {
    std::string text(beginning);
    text.replace(text.find("\nurl = ") + 1, std::string::npos, "[updates]\n");
    EXPECT_THAT(failure(text, true), HasSubstr("devices would have nothing to update from"));
}

}  // namespace
}  // namespace edgegpu
