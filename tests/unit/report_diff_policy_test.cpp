#include "report/diff_policy.hpp"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "unit/report_diff_fixture.hpp"

namespace edgegpu {
namespace {

class ReportDiffPolicy : public test::ReportDiff {};

TEST_F(ReportDiffPolicy, ThePolicyByItsRules) {
    add_policy(
        "(boolean use_devices false)\n(boolean old true)\n(type gone_t)\n"
        "(allow spc_t gone_t (chr_file (read)))\n"
        "(booleanif use_devices (true (allow container_domain device_node "
        "(chr_file (read write)))))\n");
    add_module("one", "1");
    add_module("two", "1");
    add_module("three", "1");
    fixture_.add_file("/usr/etc/selinux/targeted/active/modules/disabled/two", "");
    fixture_.add_file("/usr/etc/selinux/targeted/contexts/files/file_contexts",
                      "# a comment\n/usr/a\tu:r:a_t:s0\n/usr/b u:r:b_t:s0\n");
    fixture_.tree.entries.at("/usr/bin/tool").label = "u:r:a_t:s0";
    commit("one");
    fixture_.add_file("/usr/etc/selinux/config", "SELINUX=permissive\nSELINUXTYPE=targeted\n");
    add_policy(
        "(boolean use_devices true)\n(boolean new false)\n(type new_t)\n"
        "(typeattributeset container_domain (new_t))\n(typepermissive new_t)\n"
        "(booleanif use_devices (true (allow container_domain device_node "
        "(chr_file (read write map)))))\n"
        "(allow other_t null_device_t (chr_file (read open)))\n");
    add_module("two", "2");
    for (const char* path : {"/cil", "/lang_ext", ""}) {
        erase("/usr/etc/selinux/targeted/active/modules/100/one" + std::string(path));
    }
    add_module("four", "4");
    erase("/usr/etc/selinux/targeted/active/modules/disabled/two");
    fixture_.add_file("/usr/etc/selinux/targeted/active/modules/disabled/three", "");
    fixture_.add_file("/usr/etc/selinux/targeted/contexts/files/file_contexts",
                      "# another\n/usr/b u:r:b_t:s0\n/usr/c u:r:c_t:s0\n");
    fixture_.tree.entries.at("/usr/bin/tool").label = "u:r:b_t:s0";
    fixture_.tree.entries.at("/usr/bin").label = "u:r:c_t:s0";
    commit("two");
    EXPECT_EQ(section(text(), "SELinux"),
              "SELinux: 5 modules, 3 booleans, 2 types, 3 rules, 2 labels\n"
              "  ~ mode        enforcing -> permissive\n"
              "  + module      four@100\n"
              "  - module      one@100\n"
              "  - module      three (disabled)\n"
              "  + module      two (enabled)\n"
              "  ~ module      two@100\n"
              "  + boolean     new  off\n"
              "  - boolean     old  on\n"
              "  ~ boolean     use_devices  off -> on\n"
              "  + permissive  new_t\n"
              "  + type        new_t\n"
              "  - type        gone_t\n"
              "  rules: 2 gained, 1 lost\n"
              "  + allow container_domain device_node:chr_file map [ use_devices ]:True\n"
              "  + allow other_t null_device_t:chr_file { open read }\n"
              "  - allow spc_t gone_t:chr_file read\n"
              "  attributes of types: 1 gained, 0 lost\n"
              "  + new_t: container_domain\n"
              "  labels: 2 paths with another label\n"
              "  ~ /usr/bin  none -> u:r:c_t:s0\n"
              "  ~ /usr/bin/tool  u:r:a_t:s0 -> u:r:b_t:s0\n"
              "  file contexts: 1 gained, 1 lost\n"
              "  + /usr/c u:r:c_t:s0\n"
              "  - /usr/a u:r:a_t:s0\n");
}

TEST_F(ReportDiffPolicy, ManyRulesAreCutShort) {
    std::string rules;
    for (int i = 10; i < 60; ++i) {
        rules += fmt::format("(type t{}_t)\n(allow t{}_t null_device_t (chr_file (read)))\n", i, i);
    }
    add_policy("");
    commit("one");
    add_policy(rules);
    commit("two");
    const std::string shown = section(text(), "SELinux");
    EXPECT_NE(shown.find("\n  rules: 50 gained, 0 lost\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("\n  + allow t39_t null_device_t:chr_file read\n"
                         "    … 20 more (--json has all)\n"),
              std::string::npos)
        << shown;
    EXPECT_EQ(shown.find("allow t40_t"), std::string::npos) << shown;
    EXPECT_NE(diff_json(diff(), "/r").find("allow t59_t null_device_t:chr_file read"),
              std::string::npos);
}

TEST_F(ReportDiffPolicy, APolicyThatIsNoneIsAnError) {
    add_policy("");
    commit("one");
    fixture_.add_file("/usr/etc/selinux/targeted/policy/policy.33", "no policy at all");
    commit("two");
    try {
        (void)diff();
        FAIL() << "it was read";
    } catch (const Error& caught) {
        EXPECT_NE(caught.message().find(": /usr/etc/selinux/targeted/policy/policy.33 is not a "
                                        "binary policy that can be read"),
                  std::string::npos)
            << caught.message();
    }
    erase("/usr/etc/selinux/targeted/policy/policy.33");
    commit("three");
    add_policy("");
    commit("four");
    EXPECT_NE(text().find("\nNot compared: SELinux rules: commit "), std::string::npos) << text();
}

TEST(MergedRules, OneLineForEachSourceTargetClassAndCondition) {
    EXPECT_EQ(merged_rules({"allow a b:file read", "allow a b:file read [ x ]:True",
                            "allow a b:file append", "allow a b:dir read",
                            "allow a b:file write [ x ]:True", "allow a b:file write [ x ]:False",
                            "type_transition a b:file c \"name with blanks\"", "allow", "allow a"}),
              (std::vector<std::string>{
                  "allow", "allow a", "allow a b:dir read", "allow a b:file { append read }",
                  "allow a b:file write [ x ]:False", "allow a b:file { read write } [ x ]:True",
                  "type_transition a b:file c \"name with blanks\""}));
}

}  // namespace
}  // namespace edgegpu
