#include "selinux/policy/policydb.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "selinux/policy/policy_data.hpp"
#include "selinux_cil.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

namespace edgegpu {
namespace {

using selinux::AllowRule;
using selinux::Grant;
using selinux::PolicyDb;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;

using Pair = std::pair<std::string, std::string>;

TEST(NewestPolicy, HasTheHighestNumber) {
    using selinux::newest_policy;
    EXPECT_EQ(newest_policy({"policy.9", "policy.33", "policy.31", "booleans"}), "policy.33");
    EXPECT_EQ(newest_policy({"policy.33", "policy.34.rpmnew", "policy.x", "policy."}), "policy.33");
    EXPECT_EQ(newest_policy({"policy.kern"}), "");
    EXPECT_EQ(newest_policy({}), "");
}

class PolicyQueries : public CilPolicies {};

const std::string use_devices = R"(
(boolean container_use_devices false)
(booleanif container_use_devices
    (true (allow container_domain device_node (chr_file (ioctl read write getattr open)))))
)";

TEST_F(PolicyQueries, NamesAndMemberships) {
    const PolicyDb policy = compile(use_devices +
                                    "(typealias gpu_t)\n"
                                    "(typealiasactual gpu_t xserver_misc_device_t)");
    EXPECT_EQ(policy.booleans(), (std::map<std::string, bool>{{"container_use_devices", false}}));
    EXPECT_EQ(policy.types(), (std::set<std::string>{"container_t", "null_device_t", "other_t",
                                                     "spc_t", "xserver_misc_device_t"}));
    EXPECT_THAT(policy.attributes(), IsSupersetOf({"container_domain", "device_node"}));
    EXPECT_TRUE(policy.has_type("container_t"));
    EXPECT_TRUE(policy.has_type("gpu_t"));
    EXPECT_FALSE(policy.has_type("container_domain"));
    EXPECT_FALSE(policy.has_type("nowhere_t"));
    EXPECT_TRUE(policy.has_attribute("device_node"));
    EXPECT_EQ(policy.attributes_of("gpu_t"), std::set<std::string>{"device_node"});
    EXPECT_EQ(policy.attributes_of("nowhere_t"), std::set<std::string>{});
    EXPECT_EQ(policy.types_of("container_domain"), (std::set<std::string>{"container_t", "spc_t"}));
    EXPECT_EQ(policy.classes(), (std::set<std::string>{"chr_file", "process"}));
    EXPECT_EQ(policy.permissions_of("chr_file"),
              (std::set<std::string>{"ioctl", "read", "write", "getattr", "open", "map"}));
    EXPECT_EQ(policy.permissions_of("nothing"), std::set<std::string>{});
}

TEST_F(PolicyQueries, AnUnconditionalRuleOnAttributesIsFoundByTypes) {
    const PolicyDb policy = compile("(allow container_domain device_node (chr_file (read write)))");
    const std::vector<Grant> grants =
        policy.grants("container_t", "xserver_misc_device_t", "chr_file", "read");
    ASSERT_EQ(grants.size(), 1U);
    EXPECT_EQ(grants[0].rule.text(), "allow container_domain device_node:chr_file { read write }");
    EXPECT_EQ(grants[0].condition, "");
    EXPECT_TRUE(grants[0].active);
    EXPECT_TRUE(grants[0].switches.empty());
    EXPECT_EQ(grants[0].source_type, "container_t");
    EXPECT_EQ(grants[0].target_type, "xserver_misc_device_t");
    EXPECT_TRUE(policy.grants("container_t", "xserver_misc_device_t", "chr_file", "map").empty());
    EXPECT_TRUE(policy.grants("other_t", "xserver_misc_device_t", "chr_file", "read").empty());
    EXPECT_TRUE(policy.grants("container_t", "nowhere_t", "chr_file", "read").empty());
    EXPECT_TRUE(policy.grants("container_t", "null_device_t", "nothing", "read").empty());
}

TEST_F(PolicyQueries, AConditionalRuleTellsItsBooleanAndItsSwitch) {
    const PolicyDb policy = compile(use_devices);
    const std::vector<Grant> grants =
        policy.grants("container_t", "xserver_misc_device_t", "chr_file", "open");
    ASSERT_EQ(grants.size(), 1U);
    EXPECT_EQ(grants[0].condition, "container_use_devices");
    EXPECT_FALSE(grants[0].active);
    EXPECT_EQ(grants[0].switches, (std::map<std::string, bool>{{"container_use_devices", true}}));
    const AllowRule wanted{"container_domain", "device_node", "chr_file", {"read", "open"}};
    EXPECT_EQ(policy.first_denied(wanted), Pair("container_t", "xserver_misc_device_t"));
    EXPECT_EQ(policy.first_denied(wanted, grants[0].switches), std::nullopt);
}

TEST_F(PolicyQueries, TheElseBranchOfALongCondition) {
    const PolicyDb policy = compile(R"(
(boolean a true) (boolean b false) (boolean c true)
(booleanif (and (or a b) (not c))
    (true (allow container_t device_node (chr_file (read))))
    (false (allow container_t device_node (chr_file (write)))))
)");
    const auto read = policy.grants("container_t", "null_device_t", "chr_file", "read");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].condition, "(a || b) && !c");
    EXPECT_FALSE(read[0].active);
    EXPECT_EQ(read[0].switches, (std::map<std::string, bool>{{"c", false}}));
    const auto write = policy.grants("container_t", "null_device_t", "chr_file", "write");
    ASSERT_EQ(write.size(), 1U);
    EXPECT_EQ(write[0].condition, "!((a || b) && !c)");
    EXPECT_TRUE(write[0].active);
    EXPECT_EQ(write[0].switches, (std::map<std::string, bool>{{"c", false}}));
    EXPECT_FALSE(
        policy.grants("container_t", "null_device_t", "chr_file", "write", {{"c", false}})[0]
            .active);
    EXPECT_THAT(policy.rule_lines(),
                IsSupersetOf({"allow container_t device_node:chr_file read [ (a || b) && !c ]:True",
                              "allow container_t device_node:chr_file write "
                              "[ (a || b) && !c ]:False"}));
}

TEST_F(PolicyQueries, SelfIsEveryTypeWithItself) {
    const PolicyDb policy = compile("(allow container_domain self (process (transition)))");
    EXPECT_EQ(policy.first_denied({"container_domain", "self", "process", {"transition"}}),
              std::nullopt);
    EXPECT_EQ(policy.first_denied({"container_domain", "self", "process", {"fork"}}),
              Pair("spc_t", "spc_t"));
    EXPECT_EQ(policy.first_denied({"container_t", "spc_t", "process", {"transition"}}),
              Pair("container_t", "spc_t"));
    const auto grants = policy.grants("container_t", "self", "process", "transition");
    ASSERT_EQ(grants.size(), 1U);
    EXPECT_EQ(grants[0].target_type, "container_t");
}

TEST_F(PolicyQueries, SeveralRulesTogetherGiveWhatOneDoesNot) {
    const PolicyDb policy = compile(R"(
(allow container_t device_node (chr_file (read)))
(allow spc_t xserver_misc_device_t (chr_file (read write)))
(allow spc_t null_device_t (chr_file (read)))
(allow container_t null_device_t (chr_file (write)))
)");
    EXPECT_EQ(policy.first_denied({"container_domain", "device_node", "chr_file", {"read"}}),
              std::nullopt);
    EXPECT_EQ(policy.first_denied({"container_t", "null_device_t", "chr_file", {"read", "write"}}),
              std::nullopt);
    EXPECT_EQ(policy.first_denied({"spc_t", "device_node", "chr_file", {"write"}}),
              Pair("spc_t", "null_device_t"));
}

TEST_F(PolicyQueries, LinesTellEveryKindOfRule) {
    const PolicyDb policy = compile(use_devices + R"(
(allow container_t null_device_t (chr_file (map read)))
(allowx container_t null_device_t (ioctl chr_file (0x5401 (range 0x5410 0x5412))))
(typetransition container_t other_t process spc_t)
(typetransition container_t other_t chr_file "nvidia0" xserver_misc_device_t)
(typepermissive spc_t)
)");
    const std::set<std::string> lines = policy.rule_lines();
    EXPECT_THAT(
        lines,
        IsSupersetOf(
            {"allow container_t null_device_t:chr_file map",
             "allow container_t null_device_t:chr_file read",
             "allow container_domain device_node:chr_file open [ container_use_devices ]:True",
             "allowxperm container_t null_device_t:chr_file ioctl { 0x5401 0x5410-0x5412 }",
             "type_transition container_t other_t:process spc_t",
             "type_transition container_t other_t:chr_file xserver_misc_device_t \"nvidia0\"",
             "typeattribute spc_t container_domain", "permissive spc_t"}));
    EXPECT_THAT(lines, Not(Contains("permissive container_t")));
}

TEST_F(PolicyQueries, WhatIsNoKernelPolicyIsRefused) {
    write_file(directory_ / "policy.33", std::string(4096, 'x'));
    EXPECT_THROW(PolicyDb(Context(), directory_ / "policy.33"), Error);
    const std::filesystem::path file = compile_file(use_devices);
    const std::string whole = read_file(file);
    for (const std::size_t size : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
        write_file(file, whole.substr(0, size));
        EXPECT_THROW((PolicyDb{Context(), file}), Error) << size;
    }
}

TEST_F(PolicyQueries, ReadInAnotherProcessItIsTheSame) {
    const std::filesystem::path file = compile_file(R"(
(boolean a true)
(booleanif a (true (allow container_t device_node (chr_file (write)))))
(typealias gpu_t)
(typealiasactual gpu_t xserver_misc_device_t)
(typepermissive other_t)
(typetransition container_t null_device_t chr_file other_t)
(typetransition container_t null_device_t chr_file "gpu0" xserver_misc_device_t)
(permissionx numbers (ioctl chr_file (0x4600 (range 0x4620 0x46ff))))
(allowx container_t device_node numbers)
)");
    const selinux::PolicyData here = selinux::parse_policy(read_file(file), "here");
    const selinux::PolicyData there = selinux::read_policy(Context(), read_file(file), "there");
    EXPECT_EQ(there.type_names, here.type_names);
    EXPECT_EQ(there.type_names.at("gpu_t"), there.type_names.at("xserver_misc_device_t"));
    EXPECT_EQ(there.booleans, here.booleans);
    EXPECT_EQ(there.allow.size(), here.allow.size());
    EXPECT_EQ(there.transitions.size(), here.transitions.size());
    EXPECT_THAT(PolicyDb(Context(), file).rule_lines(),
                IsSupersetOf({"allow container_t device_node:chr_file write [ a ]:True",
                              "allowxperm container_t device_node:chr_file ioctl { 0x4600 "
                              "0x4620-0x46ff }",
                              "permissive other_t",
                              "type_transition container_t null_device_t:chr_file other_t",
                              "type_transition container_t null_device_t:chr_file "
                              "xserver_misc_device_t \"gpu0\"",
                              "typeattribute container_t container_domain"}));
}

TEST_F(PolicyQueries, ACountOfBillionsIsRefused) {
    const std::string sample =
        std::string(EDGEGPU_SOURCE_DIR) + "/tests/fuzz/corpus/binary-policy/";
    EXPECT_NO_THROW(PolicyDb(Context(), read_file(sample + "policy"), "policy.33"));
    // The number of types is 939,524,096; libsepol would allocate 7.5 GB for their names alone.
    try {
        const PolicyDb policy(Context(), read_file(sample + "count-of-types"), "policy.33");
        FAIL() << "was read";
    } catch (const Error& refused) {
        EXPECT_TRUE(
            refused.message().starts_with("policy.33: not a binary policy that can be read"))
            << refused.message();
        EXPECT_NE(refused.hint(), "");
    }
}

}  // namespace
}  // namespace edgegpu
