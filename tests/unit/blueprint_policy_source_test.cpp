#include "blueprint/sources/policy_source.hpp"

#include <string>

#include <gtest/gtest.h>

#include "blueprint/sources/policy_package.hpp"
#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"
#include "support/rpm_fixture.hpp"

namespace edgegpu {
namespace {

/// "LINE NAME" of the first macro, or "".
std::string macro(const std::string& source) {
    const auto found = find_policy_macro(source);
    return found ? std::to_string(found->line) + " " + found->name : "";
}

/// The message with which the contexts are refused, or "fine".
std::string refusal(const std::string& contexts) {
    try {
        (void)read_file_contexts(contexts, "x.fc");
    } catch (const Error& problem) {
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        return problem.message();
    }
    return "fine";
}

TEST(PolicySource, ThePlainLanguageHasNoMacros) {
    EXPECT_EQ(macro("module x 1.0;\n"
                    "require { type a_t; class file { read open }; bool b; }\n"
                    "# dev_read_rand(a_t) is not called, `nothing' is quoted\n"
                    "if (b && !(b)) { allow a_t self:file { read }; }\n"
                    "if (b or (b)) { allow a_t self:file open; }\n"
                    "type_transition a_t a_t:file b_t \"name(x)\";\n"),
              "");
}

TEST(PolicySource, MacrosAreFoundWithTheirLine) {
    EXPECT_EQ(macro("policy_module(x, 1.0)\n"), "1 policy_module");
    EXPECT_EQ(macro("module x 1.0;\n\n  dev_rw_xserver_misc (a_t)\n"), "3 dev_rw_xserver_misc");
    EXPECT_EQ(macro("allow a_t b_t:chr_file rw_chr_file_perms;\n"), "1 rw_chr_file_perms");
    EXPECT_EQ(macro("module x 1.0;\ntype a_t; domain_type(a_t)\n"), "2 domain_type");
    EXPECT_EQ(macro("allow a_t b_t:file_class_set getattr;\n"), "1 file_class_set");
    EXPECT_EQ(macro("module x 1.0;\n`type a_t;'\n"), "2 `");
}

TEST(PolicySource, OnlyMacrosBesideGenContextNeedInterfaces) {
    EXPECT_FALSE(find_context_macro("# ifdef(`x')\n/a -- gen_context(u:object_r:a_t,s0)\n"));
    const auto found = find_context_macro("/a -- u:object_r:a_t:s0\nifdef(`distro_x',`\n");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->line, 2U);
    EXPECT_EQ(found->name, "ifdef");

    const test::TemporaryDirectory directory;
    const auto module = directory.path() / "x.te";
    write_file(module, "module x 1.0;\n");
    EXPECT_FALSE(needs_interfaces(module));
    write_file(directory.path() / "x.fc", "\nifdef(`distro_x',`\n')\n");
    const auto need = needs_interfaces(module);
    ASSERT_TRUE(need);
    EXPECT_EQ(need->file, directory.path() / "x.fc");
    EXPECT_EQ(need->macro.line, 2U);
    EXPECT_FALSE(needs_interfaces(directory.path() / "x.cil"));
}

TEST(PolicySource, AModulesNameIsThatOfItsFileWithoutSuffixes) {
    EXPECT_EQ(policy_module_name("/a/container.pp.bz2"), "container");
    for (const char* file : {"x.te", "x.cil", "x.pp", "x.cil.bz2", "x"}) {
        EXPECT_EQ(policy_module_name(file), "x") << file;
    }
    EXPECT_EQ(policy_module_name("x-1.0.te"), "x-1.0");
}

TEST(PolicySource, FileContextsAreRead) {
    const auto lines = read_file_contexts(
        "# nodes\n\n/dev/nvidia.*\t-c\tgen_context(system_u:object_r:gpu_t, s0, mcs)\r\n"
        "/a(/.*)?  system_u:object_r:a_t:s0:c1.c3\nHOME_DIR/x -- <<none>>\n/b u:r:t\n",
        "x.fc");
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[0].line, 3U);
    EXPECT_EQ(lines[0].text(true), "/dev/nvidia.*\t-c\tsystem_u:object_r:gpu_t:s0:mcs");
    EXPECT_EQ(lines[0].text(false), "/dev/nvidia.*\t-c\tsystem_u:object_r:gpu_t");
    EXPECT_EQ(lines[1].text(true), "/a(/.*)?\t\tsystem_u:object_r:a_t:s0:c1.c3");
    EXPECT_EQ(lines[2].text(true), "HOME_DIR/x\t--\t<<none>>");
    EXPECT_EQ(lines[3].level, "");
}

TEST(PolicySource, BadFileContextsNameFileAndLine) {
    EXPECT_EQ(refusal("\n/a(/ -- u:r:t:s0\n"),
              "x.fc:2: '/a(/' is not a regular expression: missing closing parenthesis");
    EXPECT_EQ(refusal("/a -x u:r:t:s0\n"), "x.fc:1: '-x' is not a type of file");
    EXPECT_EQ(refusal("/a -- bin_t\n"), "x.fc:1: 'bin_t' is not a context");
    EXPECT_EQ(refusal("/a -- gen_context(bin_t,s0)\n"), "x.fc:1: 'bin_t' is not a context");
    EXPECT_EQ(refusal("/a -- gen_context(u:r:t,s0\n"), "x.fc:1: malformed 'gen_context(u:r:t,s0'");
    EXPECT_EQ(refusal("/a --\n"), "x.fc:1: '/a' has no context");
    EXPECT_EQ(refusal("a/b -- u:r:t:s0\n"), "x.fc:1: not a path");
    EXPECT_EQ(refusal("ifdef(`x',`\n/a u:r:t\n',`\n/b u:r:t\n')\n"), "fine");
}

class PolicyPackageFile : public testing::Test {
protected:
    void SetUp() override {
        write_file(directory_.path() / "x.te",
                   "module x 1.2;\nrequire { type a_t; class file read; }\n"
                   "allow a_t a_t:file read;\n");
        write_file(directory_.path() / "x.fc", "/opt/x -- u:object_r:a_t:s0\n");
        run({"checkmodule", "-M", "-m", "-o", "x.mod", "x.te"});
        run({"semodule_package", "-o", "x.pp", "-m", "x.mod", "-f", "x.fc"});
        package_ = read_file(directory_.path() / "x.pp");
    }
    void run(const std::vector<std::string>& argv) const {
        const ProcessResult result = run_process(Context{}, argv, {}, {}, directory_.path());
        ASSERT_EQ(result.status, 0) << result.output;
    }
    static std::string refused(const std::string& content) {
        try {
            (void)read_policy_package(content, "x.pp");
        } catch (const Error& problem) {
            EXPECT_EQ(problem.kind(), ErrorKind::usage);
            return problem.message();
        }
        return "fine";
    }

    test::TemporaryDirectory directory_;
    std::string package_;
};

TEST_F(PolicyPackageFile, SaysItsNameAndContexts) {
    const PolicyPackage package = read_policy_package(package_, "x.pp");
    EXPECT_EQ(package.name, "x");
    EXPECT_EQ(package.version, "1.2");
    EXPECT_EQ(package.contexts, "/opt/x -- u:object_r:a_t:s0\n");
}

TEST_F(PolicyPackageFile, MayBeCompressed) {
    run({"bzip2", "-k", "x.pp"});
    const std::string packed = read_file(directory_.path() / "x.pp.bz2");
    EXPECT_EQ(read_policy_package(packed, "x.pp.bz2").name, "x");
    EXPECT_EQ(refused(packed.substr(0, packed.size() / 2)),
              "x.pp: cannot be decompressed: truncated bzip2 input");
    EXPECT_EQ(refused("BZh9 is how it begins"), "x.pp: not a compiled policy module");
}

TEST_F(PolicyPackageFile, ThatIsCutOffOrForeignIsRefused) {
    EXPECT_EQ(refused(""), "x.pp: not a compiled policy module");
    EXPECT_EQ(refused("module x 1.0;\n"), "x.pp: not a compiled policy module");
    for (const std::size_t size :
         {std::size_t{12}, std::size_t{30}, package_.size() / 2, package_.size() - 40}) {
        EXPECT_EQ(refused(package_.substr(0, size)),
                  "x.pp: the policy module is truncated or corrupt")
            << size;
    }
}

TEST_F(PolicyPackageFile, ANewerFormatIsForTheImageToJudge) {
    const std::size_t text = package_.find("SE Linux Module");
    ASSERT_NE(text, std::string::npos);
    // Behind the text: the kind of policy, the version of its format.
    package_[text + 15 + 4] = 99;
    EXPECT_EQ(read_policy_package(package_, "x.pp").contexts, "/opt/x -- u:object_r:a_t:s0\n");
}

}  // namespace
}  // namespace edgegpu
