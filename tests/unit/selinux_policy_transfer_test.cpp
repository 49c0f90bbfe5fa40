#include "selinux/policy/policy_transfer.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu::selinux {
namespace {

PolicyData sample() {
    PolicyData policy;
    policy.types = {{"a_t", false, true, {}, {1}}, {"all", true, false, {true, false}, {}}};
    policy.type_names = {{"a_t", 0}, {"alias_t", 0}, {"all", 1}};
    PolicyClass file{"file", {}};
    file.permissions.at(31) = "read";
    policy.classes = {file};
    policy.booleans = {{"b", true}};
    policy.conditions = {{{{ConditionWord::boolean, 0}, {ConditionWord::negation, 0}}}};
    policy.allow = {{0, 1, 0, 5, {0, false}}, {1, 0, 0, 9, {}}};
    policy.transitions = {{0, 1, 0, 1, "name", {0, true}}};
    policy.ioctls = {{0, 1, 0, "ioctl { 0x1 }", {}}};
    return policy;
}

TEST(PolicyTransfer, PassesOnEverything) {
    const PolicyData policy = unpack_policy(pack_policy(sample()));
    ASSERT_EQ(policy.types.size(), 2U);
    EXPECT_TRUE(policy.types[0].permissive);
    EXPECT_EQ(policy.types[0].attributes, std::vector<std::uint32_t>{1});
    EXPECT_TRUE(policy.types[1].attribute);
    EXPECT_EQ(policy.types[1].members, (std::vector<bool>{true, false}));
    EXPECT_EQ(policy.type_names, sample().type_names);
    ASSERT_EQ(policy.classes.size(), 1U);
    EXPECT_EQ(policy.classes[0].permissions.at(31), "read");
    EXPECT_EQ(policy.booleans, sample().booleans);
    ASSERT_EQ(policy.conditions.size(), 1U);
    ASSERT_EQ(policy.conditions[0].words.size(), 2U);
    EXPECT_EQ(policy.conditions[0].words[1].word, ConditionWord::negation);
    ASSERT_EQ(policy.allow.size(), 2U);
    EXPECT_EQ(policy.allow[0].permissions, 5U);
    EXPECT_EQ(policy.allow[0].branch.condition, 0);
    EXPECT_FALSE(policy.allow[0].branch.when);
    ASSERT_EQ(policy.transitions.size(), 1U);
    EXPECT_EQ(policy.transitions[0].name, "name");
    EXPECT_EQ(policy.transitions[0].type, 1U);
    EXPECT_EQ(policy.transitions[0].branch.condition, 0);
    ASSERT_EQ(policy.ioctls.size(), 1U);
    EXPECT_EQ(policy.ioctls[0].numbers, "ioctl { 0x1 }");
}

TEST(PolicyTransfer, APartIsAnError) {
    const std::string whole = pack_policy(sample());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string part = whole.substr(0, size);
        EXPECT_THROW(static_cast<void>(unpack_policy(part)), Error) << size;
    }
}

}  // namespace
}  // namespace edgegpu::selinux
