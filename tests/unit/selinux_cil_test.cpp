#include "selinux/policy/cil.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "selinux/policy/modules.hpp"
#include "selinux_cil.hpp"
#include "support/error.hpp"

namespace edgegpu {
namespace {

using namespace selinux;
using ::testing::ElementsAre;

/// "STATEMENT IF CONDITION" of each statement visited.
std::vector<std::string> statements(const std::string& text) {
    std::vector<std::string> result;
    read_cil(text, "m", [&](const CilNode& statement, const std::vector<CilCondition>& conditions) {
        result.push_back(statement.items[0].atom + " " + statement.items[1].atom + " [" +
                         conditions_text(conditions) + "]");
    });
    return result;
}

std::string cil_failure(const std::string& text) {
    try {
        static_cast<void>(statements(text));
    } catch (const Error& error) {
        return error.message();
    }
    return "read";
}

TEST(Cil, StatementsInBlocksAreFound) {
    EXPECT_THAT(
        statements(R"(
; (allow comment_t x (c (p)))
(type a) (roletype r a) (portcon tcp "(allow" (x))
(optional o (typeattributeset cil_gen_require b) (optional p (allow a b (c (p)))))
(booleanif one (true (allow c b (c (p)))) (false (allow d b (c (p)))))
(tunableif (and (or one two) (not three)) (true (booleanif (four) (false (allow e b (c (p)))))))
(in container (allow f self (c (p))))
(block b (blockinherit x) (allow g self (c (p))))
)"),
        ElementsAre("type a []", "typeattributeset cil_gen_require []", "allow a []",
                    "allow c [one]", "allow d [!one]",
                    "allow e [((one || two) && !three) && !four]", "allow f []", "allow g []"));
}

TEST(Cil, HostileTextIsRefusedWithItsLine) {
    EXPECT_EQ(cil_failure("(type a)\n)"), "m:2: unmatched closing parenthesis");
    EXPECT_EQ(cil_failure("(optional a\n(type b)"), "m:2: a block does not end");
    EXPECT_EQ(cil_failure("(allow a"), "m:1: a list does not end");
    EXPECT_EQ(cil_failure("(x \"abc"), "m:1: a string does not end");
    EXPECT_EQ(cil_failure("\nabc"), "m:2: a statement does not begin with a parenthesis");
    EXPECT_EQ(cil_failure("(true (allow a b (c (d))))"), "m:1: branch outside of a condition");
    std::string deep = "(allow ";
    std::string blocks;
    for (int i = 0; i < 100'000; ++i) {
        deep += "(";
        blocks += "(optional x ";
    }
    EXPECT_EQ(cil_failure(deep), "m:1: lists are nested too deeply");
    EXPECT_EQ(cil_failure(blocks), "m:1: blocks are nested too deeply");
    EXPECT_EQ(cil_failure("(" + deep), "m:1: a list does not end");
}

TEST(Cil, SetsAreEvaluated) {
    const auto set = [](const std::string& text) {
        CilNode result;
        read_cil("(type " + text + ")", "m",
                 [&](const CilNode& statement, const auto&) { result = statement.items[1]; });
        return result;
    };
    EXPECT_TRUE(contains_any(set("(a b)"), {"b"}));
    EXPECT_FALSE(contains_any(set("(a b)"), {"c"}));
    EXPECT_TRUE(contains_any(set("(and (domain) (not (a b)))"), {"c", "domain"}));
    EXPECT_FALSE(contains_any(set("(and (domain) (not (a b)))"), {"b", "domain"}));
    EXPECT_TRUE(contains_any(set("(all)"), {"c"}));
    EXPECT_TRUE(evaluate(set("(eq a b)"), {}));
    EXPECT_FALSE(evaluate(set("(neq a b)"), {"a", "b"}));
    EXPECT_TRUE(evaluate(set("(and a (not (xor b c)))"), {"a", "b", "c"}));
}

class PolicyModules : public CilPolicies {};

TEST_F(PolicyModules, MembershipsAreFollowedThroughAttributesAndAliases) {
    std::set<std::string> names{"container_t"};
    add_memberships({{"late", 100, "(typeattributeset domain (container_domain x_t))"},
                     {"early", 100,
                      "(typeattributeset container_domain (and (all) (not (other_t))))"
                      "(typeattributeset other_domain (other_t))"
                      "(typeattributeset cil_gen_require container_t)"
                      "(typealias svirt_lxc_net_t)(typealiasactual svirt_lxc_net_t container_t)"}},
                    names);
    EXPECT_THAT(names, ElementsAre("container_domain", "container_t", "domain", "svirt_lxc_net_t"));
}

TEST_F(PolicyModules, RulesOfAModuleAreFoundByAllNames) {
    const auto found = find_granting_rules(
        {{"container", 200,
          "(booleanif (b) (true (allow container_domain device_node (chr_file (read map)))))"
          "(allow container_t self (chr_file (not (map))))"
          "(allow container_t device_node (blk_file (read)))(allow x_t device_node (chr_file "
          "(read)))"
          "(allow container_t device_node classpermission)"}},
        {{"container_t", "container_domain"}, {"device_node"}, true, "chr_file"});
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].rule.text(), "allow container_domain device_node:chr_file { map read }");
    EXPECT_EQ(conditions_text(found[0].conditions), "b");
    EXPECT_EQ(found[0].module, "container");
    EXPECT_EQ(found[0].priority, 200);
    EXPECT_EQ(found[1].rule.target, "self");
}

TEST_F(PolicyModules, PlainRulesOfSources) {
    write_file(directory_ / "m.te", R"(policy_module(m, 1.0)
gen_require(` type a_t; ')
require { type b_t; class chr_file { map read }; }
# allow comment_t b_t:chr_file map;
allow a_t { b_t self }:chr_file { map read };
tunable_policy(`t',` allow inner_t b_t:chr_file map; ')
if (one && two) { allow if_t b_t:chr_file map; } else { allow else_t b_t:chr_file map; }
optional { require { type c_t; } allow c_t b_t:chr_file map; }
allow d_t ~b_t:chr_file map;
allow e_t b_t : chr_file map;
dontaudit f_t b_t : chr_file map;
allow unfinished_t b_t : chr_file)");
    std::vector<std::string> rules;
    for (const AllowRule& rule : source_rules(directory_ / "m.te")) {
        rules.push_back(rule.text());
    }
    EXPECT_THAT(rules,
                ElementsAre("allow a_t b_t:chr_file { map read }",
                            "allow a_t self:chr_file { map read }", "allow e_t b_t:chr_file map"));
    write_file(directory_ / "m.cil",
               "(allow a_t b_t (chr_file (map)))(booleanif b (true (allow c_t b_t (chr_file "
               "(map)))))");
    ASSERT_EQ(source_rules(directory_ / "m.cil").size(), 1U);
    EXPECT_TRUE(source_rules(directory_ / "m.pp").empty());
}

TEST_F(PolicyModules, TheStoresModulesInForce) {
    write_file(directory_ / "plain", "(type a)");
    ASSERT_EQ(run_process(Context{}, {"sh", "-c", "bzip2 -k plain"}, {}, {}, directory_).status, 0);
    Entries entries;
    const auto add = [&](const std::string& path, const char* file) {
        entries["/etc/selinux/targeted/active/modules/" + path].content = directory_ / file;
    };
    add("100/base/cil", "plain");
    add("100/base/hll", "plain");
    add("100/container/cil", "plain");
    add("200/container/cil", "plain.bz2");
    add("100/off/cil", "plain");
    add("disabled/off", "plain");
    add("100/a/b/cil", "plain");
    add("x/c/cil", "plain");
    const auto modules = store_modules(entries, "/etc/selinux/targeted");
    ASSERT_EQ(modules.size(), 2U);
    EXPECT_EQ(modules[0].name, "base");
    EXPECT_EQ(modules[1].name, "container");
    EXPECT_EQ(modules[1].priority, 200);
    EXPECT_EQ(modules[1].cil, "(type a)");
    write_file(directory_ / "damaged", read_file(directory_ / "plain.bz2").substr(0, 30));
    EXPECT_THROW(static_cast<void>(read_module_file(directory_ / "damaged")), Error);
    EXPECT_THROW(static_cast<void>(read_module_file(directory_ / "absent")), Error);
}

}  // namespace
}  // namespace edgegpu
