#include "selinux/policy/rules.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "blueprint/sources/policy_rule.hpp"
#include "selinux_cil.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using namespace selinux;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> parsed(const std::string& text) {
    std::vector<std::string> result;
    for (const AllowRule& rule : parse_rule(text, {"b.toml", 3, 1})) {
        result.push_back(rule.text());
    }
    return result;
}

std::string refused(const std::string& text) {
    try {
        static_cast<void>(parsed(text));
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.message();
    }
    return "accepted";
}

TEST(PolicyRuleText, OneAndSeveralNames) {
    EXPECT_THAT(parsed("allow container_t xserver_misc_device_t:chr_file map"),
                ElementsAre("allow container_t xserver_misc_device_t:chr_file map"));
    EXPECT_THAT(parsed(" allow\ta_t  self : process { fork  transition } ; "),
                ElementsAre("allow a_t self:process { fork transition }"));
    EXPECT_THAT(parsed("allow {a_t b_t} {c_t self}:{chr_file blk_file} read;"),
                ElementsAre("allow a_t c_t:chr_file read", "allow a_t c_t:blk_file read",
                            "allow a_t self:chr_file read", "allow a_t self:blk_file read",
                            "allow b_t c_t:chr_file read", "allow b_t c_t:blk_file read",
                            "allow b_t self:chr_file read", "allow b_t self:blk_file read"));
}

TEST(PolicyRuleText, WhatIsWrongAndWhere) {
    EXPECT_EQ(refused("allow a_t b_t chr_file read"),
              "b.toml:3:1: not an allow rule: \"allow a_t b_t chr_file read\": character 15: ':' "
              "and a class are missing");
    EXPECT_THAT(refused("dontaudit a_t b_t:c p"),
                HasSubstr("character 1: only allow rules can be checked"));
    EXPECT_THAT(refused(""), HasSubstr("character 1: \"allow\" is missing"));
    EXPECT_THAT(refused("allow a_t"), HasSubstr("character 10: the target type is missing"));
    EXPECT_THAT(refused("allow a_t b_t:c"), HasSubstr("character 16: the permission is missing"));
    EXPECT_THAT(refused("allow a_t b_t:c {}"),
                HasSubstr("character 18: the permission is missing"));
    EXPECT_THAT(refused("allow a_t b_t:c { p"), HasSubstr("character 20: '}' is missing"));
    EXPECT_THAT(refused("allow a_t b_t:c p q"),
                HasSubstr("character 19: something follows the rule"));
    EXPECT_THAT(refused("allow * b_t:c p"), HasSubstr("only names are supported"));
    EXPECT_THAT(refused("allow a_t { b_t -c_t }:c p"), HasSubstr("only names are supported"));
    EXPECT_THAT(refused("allow self b_t:c p"), HasSubstr("\"self\" can only be the target"));
}

/// container-selinux before 2.213, as its module is in the store.
const std::string container = R"((booleanif container_use_devices
    (true (allow container_domain device_node (chr_file (ioctl read write getattr open))))))";

class PolicyRules : public CilPolicies {
protected:
    void SetUp() override {
        CilPolicies::SetUp();
        write_file(directory_ / "gpu-map.te",
                   "allow container_t xserver_misc_device_t:chr_file map;\n");
        write_file(directory_ / "other.te", "allow container_t other_t:chr_file map;\n");
    }

    /// "accepted", or the whole error.
    [[nodiscard]] std::string check(const PolicyDb& policy, const std::string& require,
                                    const std::string& forbid = {}) const {
        const auto request = [](const std::string& text) {
            return text.empty() ? std::vector<PolicyRuleRequest>()
                                : std::vector<PolicyRuleRequest>{{text, {"b.toml", 7, 3}}};
        };
        const RuleOrigins origins{[] {
                                      return std::vector<ModuleText>{{"base", 100, base()},
                                                                     {"container", 200, container}};
                                  },
                                  {directory_ / "gpu-map.te", directory_ / "other.te"}};
        try {
            check_rules(policy, request(require), request(forbid), origins);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), error.message().find("lacks a required") != std::string::npos ||
                                            error.message().find("forbidden") != std::string::npos
                                        ? ErrorKind::failure
                                        : ErrorKind::usage);
            return error.render();
        }
        return "accepted";
    }
};

TEST_F(PolicyRules, WhatHoldsIsAccepted) {
    const PolicyDb policy = compile("(boolean container_use_devices true)" + container);
    EXPECT_EQ(check(policy, "allow container_t xserver_misc_device_t:chr_file { open read }",
                    "allow container_t xserver_misc_device_t:chr_file map"),
              "accepted");
    EXPECT_EQ(check(policy, "allow container_domain device_node:chr_file open",
                    "allow other_t device_node:chr_file { open map }"),
              "accepted");
    EXPECT_EQ(check(policy, "allow container_t self:process fork",
                    "allow { spc_t other_t } self:process fork"),
              "accepted");
}

TEST_F(PolicyRules, ABooleanThatWouldGiveItIsNamed) {
    const PolicyDb policy = compile("(boolean container_use_devices false)" + container);
    EXPECT_EQ(check(policy, "allow container_t xserver_misc_device_t:chr_file { open read }"),
              "error: b.toml:7:3: the image's policy lacks a required rule: allow container_t "
              "xserver_misc_device_t:chr_file { open read }\n"
              "  container_use_devices = true would give it: allow container_domain "
              "device_node:chr_file { getattr ioctl open read write } if container_use_devices, of "
              "the policy module container (priority 200)\n"
              "hint: set container_use_devices = true in [selinux] booleans\n");
}

TEST_F(PolicyRules, OfTwoBooleansTheOneThatGivesLessIsNamed) {
    const PolicyDb policy = compile("(boolean container_use_devices false)" + container +
                                    R"((boolean use_xserver false)
(booleanif use_xserver (true (allow container_t xserver_misc_device_t (chr_file (open))))))");
    EXPECT_THAT(check(policy, "allow container_t xserver_misc_device_t:chr_file open"),
                HasSubstr("hint: set use_xserver = true in [selinux] booleans\n"));
}

TEST_F(PolicyRules, AModuleThatWouldGiveItIsNamed) {
    const PolicyDb policy = compile("(boolean container_use_devices true)" + container);
    EXPECT_EQ(check(policy, "allow container_t xserver_misc_device_t:chr_file { open map }"),
              "error: b.toml:7:3: the image's policy lacks a required rule: allow container_t "
              "xserver_misc_device_t:chr_file map\n"
              "  the module gpu-map would give it\n"
              "hint: add \"gpu-map\" to [selinux] modules\n");
}

TEST_F(PolicyRules, BooleanAndModuleTogether) {
    const PolicyDb policy = compile("(boolean container_use_devices false)" + container);
    EXPECT_EQ(
        check(policy, "allow container_t xserver_misc_device_t:chr_file { open map }"),
        "error: b.toml:7:3: the image's policy lacks a required rule: allow container_t "
        "xserver_misc_device_t:chr_file { map open }\n"
        "  container_use_devices = true would give only open: allow container_domain "
        "device_node:chr_file { getattr ioctl open read write } if container_use_devices, of "
        "the policy module container (priority 200)\n"
        "  the module gpu-map would give only map\n"
        "hint: set container_use_devices = true in [selinux] booleans, and add \"gpu-map\" to "
        "[selinux] modules\n");
}

TEST_F(PolicyRules, ABooleanThatTakesAsMuchAsItGivesIsNoWay) {
    const PolicyDb policy = compile(R"((boolean a false)
(booleanif a (true (allow container_t other_t (chr_file (read))))
             (false (allow container_t other_t (chr_file (write))))))");
    const std::string text = check(policy, "allow container_t other_t:chr_file { read write }");
    EXPECT_THAT(text,
                HasSubstr("lacks a required rule: allow container_t other_t:chr_file read\n"));
    EXPECT_THAT(text, HasSubstr("hint: write a policy module with this rule"));
}

TEST_F(PolicyRules, APairOfAnAttributeThatLacksItIsNamed) {
    const PolicyDb policy = compile("(allow container_t device_node (chr_file (read)))");
    const std::string text = check(policy, "allow container_domain device_node:chr_file read");
    EXPECT_THAT(text, HasSubstr("\n  spc_t lacks it on "));
    EXPECT_THAT(text, HasSubstr("hint: write a policy module with this rule"));
}

TEST_F(PolicyRules, AForbiddenRuleTellsWhoGivesIt) {
    const PolicyDb policy = compile("(boolean container_use_devices true)" + container);
    EXPECT_EQ(check(policy, {}, "allow container_t null_device_t:chr_file { map write }"),
              "error: b.toml:7:3: the image's policy has a forbidden rule: allow container_t "
              "null_device_t:chr_file write\n"
              "  allow container_domain device_node:chr_file { getattr ioctl open read write } if "
              "container_use_devices, of the policy module container (priority 200)\n"
              "hint: set container_use_devices = false in [selinux] booleans\n");
    EXPECT_EQ(check(policy, {}, "allow { other_t container_domain } self:process fork"),
              "error: b.toml:7:3: the image's policy has a forbidden rule: allow container_domain "
              "self:process fork\n"
              "  allow container_t container_t:process fork, of the policy module base (priority "
              "100): for container_t and container_t\n"
              "hint: omit the policy module base, or allow what it needs\n");
}

TEST_F(PolicyRules, UnknownNamesHaveNeighbours) {
    const PolicyDb policy = compile("");
    EXPECT_EQ(check(policy, "allow containr_t null_device_t:chr_file read"),
              "error: b.toml:7:3: the image's policy has no type or attribute 'containr_t'\n"
              "hint: did you mean container_t?\n");
    EXPECT_EQ(check(policy, {}, "allow container_t nowhere_at_all:chr_file read"),
              "error: b.toml:7:3: the image's policy has no type or attribute 'nowhere_at_all'\n"
              "hint: install the package whose policy module defines it\n");
    EXPECT_THAT(
        check(policy, "allow container_t null_device_t:chr_fil read"),
        HasSubstr("the image's policy has no class 'chr_fil'\nhint: did you mean chr_file"));
    EXPECT_THAT(check(policy, "allow container_t null_device_t:chr_file mapp"),
                HasSubstr("the class chr_file has no permission 'mapp'\nhint: did you mean map"));
}

}  // namespace
}  // namespace edgegpu
