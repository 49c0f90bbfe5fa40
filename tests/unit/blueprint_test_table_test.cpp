#include "blueprint/tables/test_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view usable_beginning =
    "distro = \"lab-12\"\n[[repositories]]\nid = \"a\"\nbaseurl = \"/x\"\ngpgcheck = false\n"
    "repo_gpgcheck = false\n";

class TestTableTest : public BlueprintTest {
protected:
    /// The error of checking a blueprint that ends with this, from line 7 on.
    [[nodiscard]] std::string mistakes(const std::string& text) const {
        return failure(std::string(usable_beginning) + text + "[accounts]\nlogin = \"none\"\n",
                       true);
    }
};

TEST_F(TestTableTest, ChecksAndAllowancesAreRead) {
    const TestRequest test = parse(std::string(usable_beginning) + R"(
[[test.checks]]
name = "GPU is there"
script = """
#!/bin/sh
nvidia-smi
"""
user = "operator"
timeout = 30
phases = ["before-upgrade", "rollback"]
[[test.checks]]
name = "b"
path = "checks/b"
[[test.allow_denials]]
source = "container_t"
target = "self"
class = "chr_file"
permissions = ["map", "open"]
reason = "known: bug 1"
[[test.allow_denials]]
source = "a.b"
target = "c"
class = "file"
permissions = "read"
reason = "x"
)")
                                 .test;
    ASSERT_EQ(test.checks.size(), 2U);
    EXPECT_EQ(test.checks[0].name, "GPU is there");
    EXPECT_EQ(test.checks[0].script, "#!/bin/sh\nnvidia-smi\n");
    EXPECT_EQ(test.checks[0].user, "operator");
    EXPECT_EQ(test.checks[0].timeout, 30U);
    EXPECT_THAT(test.checks[0].phases, ElementsAre(TestPhase::before_upgrade, TestPhase::rollback));
    EXPECT_EQ(test.checks[1].path, directory_ / "checks/b");
    EXPECT_EQ(test.checks[1].user, "root");
    EXPECT_EQ(test.checks[1].timeout, 600U);
    EXPECT_THAT(test.checks[1].phases, ElementsAre(TestPhase::boot, TestPhase::upgrade));
    ASSERT_EQ(test.allow_denials.size(), 2U);
    EXPECT_EQ(test.allow_denials[0].target, "self");
    EXPECT_EQ(test.allow_denials[0].object_class, "chr_file");
    EXPECT_THAT(test.allow_denials[0].permissions, ElementsAre("map", "open"));
    EXPECT_EQ(test.allow_denials[0].reason, "known: bug 1");
    EXPECT_EQ(test.allow_denials[1].source, "a.b");
    EXPECT_THAT(test.allow_denials[1].permissions, ElementsAre("read"));
}

TEST_F(TestTableTest, MistakesInChecksHaveLines) {
    EXPECT_EQ(mistakes("[[test.checks]]\nscript = \"x\"\n"),
              "error: b.toml:7:1: \"test.checks.name\" is missing\n");
    EXPECT_EQ(mistakes("[[test.checks]]\nname = \"a\"\n"),
              "error: b.toml:7:1: a check has either script or path\n"
              "hint: script = \"the text of a program\", or path = \"FILE\", relative to the "
              "blueprint\n");
    EXPECT_EQ(mistakes("[[test.checks]]\nname = \"a\"\nscript = \"\"\n"),
              "error: b.toml:9:10: \"test.checks.script\" is empty\n");
    EXPECT_EQ(mistakes("[[test.checks]]\nname = \"a\"\nscript = \"x\"\nuser = \"-x\"\n"),
              "error: b.toml:10:8: invalid user name \"-x\"\n"
              "hint: at most 32 letters, digits, '_', '.', '-', beginning with a letter or '_'\n");
    EXPECT_EQ(mistakes("[[test.checks]]\nname = \"a\"\nscript = \"x\"\nphases = [\"boots\"]\n"),
              "error: b.toml:10:11: there is no phase \"boots\"\n"
              "hint: one of \"boot\", \"before-upgrade\", \"upgrade\", \"before-rollback\", "
              "\"rollback\"\n");
    EXPECT_EQ(mistakes("[[test.checks]]\nname = \"a\"\nscript = \"x\"\n[[test.checks]]\n"
                       "name = \"a\"\nscript = \"y\"\n"),
              "error: b.toml:10:1: duplicate check \"a\" (first at line 7)\n");
    for (const char* wrong : {"timeout = 0", "timeout = 86401", "timeout = \"1\"", "phases = []",
                              "name = \"\\u001b[2J\"", "users = \"x\""}) {
        const std::string said =
            mistakes("[[test.checks]]\nscript = \"x\"\n" + std::string(wrong) + "\n" +
                     (std::string(wrong).starts_with("name") ? "" : "name = \"a\"\n"));
        EXPECT_NE(said, "no error") << wrong;
        EXPECT_EQ(said.find('\033'), std::string::npos) << wrong;
    }
    EXPECT_NE(
        mistakes("[[test.checks]]\nscript = \"x\"\nname = \"" + std::string(101, 'n') + "\"\n"),
        "no error");
}

TEST_F(TestTableTest, FilesOfChecksHaveToBeThere) {
    const std::string text = "[[test.checks]]\nname = \"a\"\npath = \"c/a\"\n";
    EXPECT_EQ(mistakes(text), "error: b.toml:7:1: check \"a\": no such file: c/a\n");
    put("c/a", "");
    EXPECT_EQ(mistakes(text), "error: b.toml:7:1: check \"a\": c/a: the file is empty\n");
    put("c/a", std::string(largest_test_check + 1, 'x'));
    EXPECT_NE(mistakes(text), "no error");
    put("c/a", "true");
    EXPECT_EQ(mistakes(text), "no error");
    std::filesystem::remove(directory_ / "c/a");
    std::filesystem::create_symlink("a", directory_ / "c/a");
    EXPECT_EQ(mistakes(text), "error: b.toml:7:1: check \"a\": no such file: c/a\n");
}

TEST_F(TestTableTest, AnAllowanceIsARuleWithAReason) {
    const std::string whole =
        "[[test.allow_denials]]\nsource = \"a_t\"\ntarget = \"b_t\"\nclass = \"file\"\n"
        "permissions = [\"read\"]\n";
    EXPECT_EQ(mistakes(whole + "reason = \"x\"\n"), "no error");
    const std::string no_reason =
        "an allowance without a reason\n"
        "hint: say why the denial does not matter: reason = \"…\"\n";
    EXPECT_EQ(mistakes(whole), "error: b.toml:7:1: " + no_reason);
    EXPECT_EQ(mistakes(whole + "reason = \" \"\n"), "error: b.toml:12:10: " + no_reason);
    EXPECT_NE(mistakes(whole + "reason = \"one\\ntwo\"\n"), "no error");
    for (const char* key : {"source", "target", "class", "permissions"}) {
        std::string text = whole + "reason = \"x\"\n";
        const std::size_t at = text.find(key);
        text.erase(at, text.find('\n', at) + 1 - at);
        EXPECT_NE(mistakes(text), "no error") << key;
    }
    for (const char* wrong : {"*", "a_t b_t", "a;b", "-a", "$(x)", "a_t*"}) {
        std::string text = whole + "reason = \"x\"\n";
        EXPECT_NE(mistakes(text.replace(text.find("a_t"), 3, wrong)), "no error") << wrong;
    }
    EXPECT_NE(mistakes("[[test.allow_denials]]\nsource = \"a_t\"\ntarget = \"b_t\"\nclass = \"f\"\n"
                       "permissions = [\"*\"]\nreason = \"x\"\n"),
              "no error");
    EXPECT_EQ(
        mistakes("[test]\ncheck = 1\n"),
        "error: b.toml:8:1: unknown key \"test.check\"\nhint: did you mean \"test.checks\"?\n");
}

}  // namespace
}  // namespace edgegpu
