#include "selinux/store/calls.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu::selinux {
namespace {

using Call = std::vector<std::string>;

class PolicyCalls : public ::testing::Test {
protected:
    void add(const Call& call) { add_call(transaction_, call, modules_, "targeted"); }
    [[nodiscard]] std::string refusal(const Call& call) {
        try {
            add(call);
        } catch (const Error& error) {
            return error.message();
        }
        return "accepted";
    }

    Transaction transaction_;
    std::set<ModuleId> modules_{{100, "base"}, {100, "aide"}, {200, "old"}};
};

TEST_F(PolicyCalls, InstallsGoIntoOneRunInOrder) {
    add({"/usr/sbin/semodule", "-n", "-s", "targeted", "-X", "200", "-i", "/p/a.pp.bz2",
         "/p/b.cil"});
    add({"semodule", "-nX150", "--install=/p/c.pp"});
    add({"semodule", "-i", "/p/d.pp"});
    EXPECT_EQ(transaction_.actions,
              (Call{"-X", "200", "-i", "/p/a.pp.bz2", "-X", "200", "-i", "/p/b.cil", "-X", "150",
                    "-i", "/p/c.pp", "-X", "400", "-i", "/p/d.pp"}));
    EXPECT_EQ(transaction_.module_files, (Call{"/p/a.pp.bz2", "/p/b.cil", "/p/c.pp", "/p/d.pp"}));
    EXPECT_TRUE(modules_.contains({200, "a"}));
}

TEST_F(PolicyCalls, RemovalOfWhatIsNotThereIsSkipped) {
    add({"semodule", "-n", "-X", "200", "-r", "old", "-r", "never"});
    EXPECT_EQ(transaction_.actions, (Call{"-X", "200", "-r", "old"}));
    EXPECT_EQ(transaction_.skipped, (Call{"semodule -n -X 200 -r old -r never"}));
}

TEST_F(PolicyCalls, DisableKnowsTheModulesOfTheStore) {
    add({"semodule", "-d", "aide", "-d", "nothing"});
    EXPECT_EQ(transaction_.actions, (Call{"-X", "400", "-d", "aide"}));
}

TEST_F(PolicyCalls, RebuildIsRemembered) {
    add({"semodule", "-nB"});
    EXPECT_TRUE(transaction_.rebuild);
    EXPECT_TRUE(transaction_.actions.empty());
}

TEST_F(PolicyCalls, BooleansOfBothTools) {
    add({"setsebool", "-P", "-N", "a=1", "b=off"});
    add({"setsebool", "-NP", "c", "on"});
    add({"semanage", "boolean", "-N", "-m", "--on", "d"});
    add({"setsebool", "volatile=1"});
    EXPECT_EQ(transaction_.booleans,
              (std::map<std::string, bool>{{"a", true}, {"b", false}, {"c", true}, {"d", true}}));
    EXPECT_EQ(transaction_.skipped, (Call{"setsebool volatile=1"}));
}

TEST_F(PolicyCalls, FileContextsAndDomains) {
    add({"semanage", "fcontext", "-a", "-t", "bin_t", "-f", "f", "/opt/x(/.*)?"});
    add({"semanage", "fcontext", "-a", "-e", "/home", "/srv/home"});
    add({"semanage", "permissive", "-a", "x_t"});
    EXPECT_EQ((transaction_.file_contexts.at({"/opt/x(/.*)?", "--"})),
              "system_u:object_r:bin_t:s0");
    EXPECT_EQ(transaction_.substitutions.at("/srv/home"), "/home");
    EXPECT_TRUE(transaction_.permissive.contains("x_t"));
}

TEST_F(PolicyCalls, WhatCannotBeReplayedNamesTheCall) {
    EXPECT_EQ(refusal({"semodule", "-s", "mls", "-i", "/x.pp"}),
              "a scriptlet called 'semodule -s mls -i /x.pp': the image's policy is 'targeted'");
    EXPECT_EQ(refusal({"semodule", "-i", "x.pp"}),
              "a scriptlet called 'semodule -i x.pp': 'x.pp' is not an absolute path");
    EXPECT_EQ(refusal({"semodule", "-X", "0", "-i", "/x.pp"}),
              "a scriptlet called 'semodule -X 0 -i /x.pp': the priority is not a number from 1 to "
              "999");
    EXPECT_EQ(refusal({"semodule", "-i"}),
              "a scriptlet called 'semodule -i': an argument is missing");
    EXPECT_EQ(refusal({"semodule", "-DB"}),
              "a scriptlet called 'semodule -DB': option -D is not understood");
    EXPECT_EQ(refusal({"semanage", "port", "-a", "-t", "http_port_t", "-p", "tcp", "81"}),
              "a scriptlet called 'semanage port -a -t http_port_t -p tcp 81': option -p is not "
              "understood");
    EXPECT_EQ(refusal({"chcon", "x"}),
              "a scriptlet called 'chcon x': this policy tool is not supported");
}

}  // namespace
}  // namespace edgegpu::selinux
