#include "blueprint/sources/cil_check.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

/// The error with which the text is refused, or "fine".
std::string cil_refusal(const std::string& text) {
    try {
        check_cil(text, "x.cil");
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        return problem.render();
    }
    return "fine";
}

std::string repeated(const std::string& text, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) {
        result += text;
    }
    return result;
}

TEST(CilCheck, WholeModulesAreFine) {
    EXPECT_EQ(cil_refusal(""), "fine");
    EXPECT_EQ(cil_refusal("; a comment (\n(allow a b (file (read)))\n"
                          "(filecon \"/a (b\" any (u r t ((s0) (s0))))\n"),
              "fine");
    EXPECT_EQ(cil_refusal("(typeattributeset cil_gen_require svirt_t)\n(type a)\n(type a)\n"
                          "(optional o (allow a self (process (fork))))\n"
                          "(block p (blockinherit q))\n(call m (x))\n"),
              "fine");
}

TEST(CilCheck, ParenthesesAndQuotesMatch) {
    EXPECT_EQ(cil_refusal("(type a)\n(allow a b (file (read))\n(type b) ; )\n"),
              "error: x.cil:2: a '(' is never closed\n");
    EXPECT_EQ(cil_refusal("(filecon \"(\" any ())\n("), "error: x.cil:2: a '(' is never closed\n");
    EXPECT_EQ(cil_refusal("(type a)\n(type b))\n"),
              "error: x.cil:2: close parenthesis without matching open\n");
    EXPECT_EQ(cil_refusal("\n(type \"b)\n"), "error: x.cil:2: a quote is not closed in its line\n");
    EXPECT_EQ(cil_refusal("\ntype b\n"), "error: x.cil:2: symbol not inside parenthesis\n");
    EXPECT_EQ(cil_refusal(std::string("\x7f\0", 2)), "error: x.cil: not a text file, as CIL is\n");
}

TEST(CilCheck, StatementsHaveTheirParts) {
    EXPECT_EQ(cil_refusal("(type a)\n(allow a b)\n"),
              "error: x.cil:2: bad allow rule\n  libsepol: Invalid syntax\n");
    EXPECT_EQ(cil_refusal("(type)"),
              "error: x.cil:1: bad type declaration\n  libsepol: Invalid syntax\n");
}

TEST(CilCheck, MistypedStatementsAreToldFromThoseOfNewerPolicies) {
    EXPECT_EQ(cil_refusal("(type alow)\n\n( alow a b (file (read)))\n(alow a b (file (read)))\n"),
              "error: x.cil:3: CIL has no statement 'alow'\nhint: did you mean 'allow'?\n");
    EXPECT_EQ(cil_refusal("(someday_known a b)"), "fine");
    EXPECT_EQ(cil_refusal("(permissionx p (someday c ((range 0 1))))"), "fine");
    EXPECT_EQ(cil_refusal("(boolean b true)\n(booleanif b (true (permissive a)))"), "fine");
}

TEST(CilCheck, DeepNestingIsRefused) {
    const std::string limit = "error: x.cil:1: number of open parenthesis exceeds limit of 4096\n";
    EXPECT_EQ(cil_refusal(repeated("(", 1'000'000)), limit);
    EXPECT_EQ(cil_refusal(repeated("(optional a ", 100'000) + repeated(")", 100'000)), limit);
    // What libsepol recurses into, as deep as it lets.
    EXPECT_EQ(cil_refusal(repeated("(optional a ", 4000) + repeated(")", 4000)), "fine");
    EXPECT_EQ(
        cil_refusal("(typeattributeset a " + repeated("(not ", 4000) + "b" + repeated(")", 4001)),
        "fine");
}

}  // namespace
}  // namespace edgegpu
