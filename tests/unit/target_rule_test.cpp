#include "installer/target_rule.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

std::string rule_failure(const std::string& text) {
    try {
        (void)parse_target_rule(text);
    } catch (const Error& failure) {
        EXPECT_EQ(failure.exit_status(), 2);
        return failure.render();
    }
    return "accepted";
}

TEST(TargetRuleTest, ConditionsBecomeLines) {
    EXPECT_EQ(target_rule_lines(parse_target_rule("size>=100G, model=Samsung SSD*,transport=nvme")),
              "size >= 107374182400\nmodel = Samsung SSD*\ntransport = nvme\nremovable = no\n");
    EXPECT_EQ(target_rule_lines(parse_target_rule("size<=1T,removable=yes")),
              "size <= 1099511627776\nremovable = yes\n");
}

TEST(TargetRuleTest, AnyIsEveryDiskThatIsNotRemovable) {
    EXPECT_EQ(target_rule_lines(parse_target_rule("transport=usb")), "transport = usb\n");
    EXPECT_EQ(target_rule_lines(parse_target_rule("transport=u*")), "transport = u*\n");
    EXPECT_EQ(target_rule_lines(parse_target_rule("any")), "removable = no\n");
}

TEST(TargetRuleTest, MistakesAreNamed) {
    EXPECT_NE(rule_failure("").find("a condition is empty"), std::string::npos);
    EXPECT_NE(rule_failure("size>=1G,").find("a condition is empty"), std::string::npos);
    EXPECT_NE(rule_failure("largest").find("'largest' compares nothing"), std::string::npos);
    EXPECT_NE(rule_failure("modle=x").find("did you mean 'model'?"), std::string::npos);
    EXPECT_NE(rule_failure("size=1G").find("size is compared with >= or <="), std::string::npos);
    EXPECT_NE(rule_failure("size>=many").find("size is compared with >= or <="), std::string::npos);
    EXPECT_NE(rule_failure("size>1G").find("has no operator"), std::string::npos);
    EXPECT_NE(rule_failure("model>=x").find("model is compared with ="), std::string::npos);
    EXPECT_NE(rule_failure("model=").find("model has no value"), std::string::npos);
    EXPECT_NE(rule_failure("removable=maybe").find("removable is yes or no"), std::string::npos);
    EXPECT_NE(rule_failure("model=a\nserial = b").find("control character"), std::string::npos);
}

}  // namespace
}  // namespace edgegpu
