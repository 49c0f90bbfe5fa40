#include "report/generated_attributes.hpp"

#include <gtest/gtest.h>

#include "report/diff_policy.hpp"
#include "unit/selinux_cil.hpp"

namespace edgegpu {
namespace {

using Names = std::vector<std::string>;

class GeneratedAttributes : public CilPolicies {
protected:
    /// A generated attribute that a rule uses.
    static std::string set(const std::string& name, const std::string& types,
                           const std::string& permission) {
        return fmt::format(
            "(typeattribute {0})\n(typeattributeset {0} ({1}))\n(expandtypeattribute ({0}) "
            "false)\n(allow {0} null_device_t (chr_file ({2})))\n",
            name, types, permission);
    }

    [[nodiscard]] PolicyChanges compare(const std::string& before, const std::string& after) const {
        const selinux::PolicyDb old_policy = compile(before);
        const selinux::PolicyDb new_policy = compile(after);
        PolicyChanges changes;
        compare_rules(old_policy.rule_lines(), rule_lines_named_as(old_policy, new_policy),
                      changes);
        return changes;
    }
};

TEST_F(GeneratedAttributes, AnotherNumberIsNoDifference) {
    const PolicyChanges changes =
        compare(set("base_typeattr_1", "container_t spc_t", "read") +
                    set("base_typeattr_2", "spc_t other_t", "write"),
                set("base_typeattr_1", "other_t container_t", "map") +
                    set("base_typeattr_2", "container_t spc_t", "read") +
                    set("base_typeattr_3", "spc_t other_t", "write open"));
    EXPECT_EQ(changes.rules.gained, (Names{"allow base_typeattr_1+ null_device_t:chr_file map",
                                           "allow base_typeattr_2 null_device_t:chr_file open"}));
    EXPECT_EQ(changes.rules.lost, Names{});
    EXPECT_EQ(changes.attributes.gained,
              (Names{"container_t base_typeattr_1+", "other_t base_typeattr_1+"}));
    EXPECT_EQ(changes.attributes.lost, Names{});
}

TEST_F(GeneratedAttributes, NewTypesDoNotMakeAnotherSet) {
    const PolicyChanges changes =
        compare(set("base_typeattr_1", "container_t spc_t", "read"),
                "(type new_t)\n" + set("base_typeattr_7", "container_t spc_t new_t", "read"));
    EXPECT_EQ(changes.rules.gained, Names{});
    EXPECT_EQ(changes.rules.lost, Names{});
    EXPECT_EQ(changes.attributes.gained, (Names{"new_t base_typeattr_1"}));
}

TEST_F(GeneratedAttributes, ASetThatChangedKeepsItsName) {
    const PolicyChanges changes = compare(set("base_typeattr_1", "container_t spc_t", "read"),
                                          set("base_typeattr_1", "container_t other_t", "read"));
    EXPECT_TRUE(changes.rules.empty());
    EXPECT_EQ(changes.attributes.gained, (Names{"other_t base_typeattr_1"}));
    EXPECT_EQ(changes.attributes.lost, (Names{"spc_t base_typeattr_1"}));
}

TEST_F(GeneratedAttributes, NamesOfPeopleAreLeftAlone) {
    const PolicyChanges changes = compare(set("mine", "container_t spc_t", "read"),
                                          set("yours", "container_t spc_t", "read"));
    EXPECT_EQ(changes.rules.gained, (Names{"allow yours null_device_t:chr_file read"}));
    EXPECT_EQ(changes.rules.lost, (Names{"allow mine null_device_t:chr_file read"}));
}

}  // namespace
}  // namespace edgegpu
