#include "selinux/compile.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu::selinux {
namespace {

namespace fs = std::filesystem;

class Compile : public ::testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "edgegpu-compile.XXXXXX").string();
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        directory_ = pattern;
        fs::create_directory(directory_ / "out");
    }
    void TearDown() override { fs::remove_all(directory_); }

    /// The message for a module "x" of that source, without the directory.
    [[nodiscard]] std::string refusal(const std::string& source) const {
        write_file(directory_ / "x.te", source);
        try {
            static_cast<void>(
                compile_module(Context{}, directory_ / "x.te", directory_ / "out", true));
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            return error.message().substr(directory_.string().size() + 1);
        }
        return "accepted";
    }

    fs::path directory_;
};

TEST_F(Compile, MakesAPackage) {
    write_file(directory_ / "x.te",
               "module x 1.0;\nrequire { type a_t; class file read; }\nallow a_t a_t:file read;\n");
    write_file(directory_ / "x.fc", "/opt/x -- system_u:object_r:a_t:s0\n");
    const CompiledModule module =
        compile_module(Context{}, directory_ / "x.te", directory_ / "out", true);
    EXPECT_EQ(module.name, "x");
    const std::string content = read_file(module.file);
    EXPECT_NE(content.find("a_t"), std::string::npos);
    EXPECT_NE(content.find("/opt/x"), std::string::npos);
}

TEST_F(Compile, PointsAtTheLineOfAnError) {
    EXPECT_EQ(refusal("module x 1.0;\nrequire { type a_t; class file read; }\n"
                      "allow a_t b_t:file read;\n"),
              "x.te:3: unknown type b_t at ';'");
    EXPECT_EQ(refusal("module x 1.0;\nrequire { type a_t; }\nalow a_t;\n"),
              "x.te:3: syntax error at 'alow'");
}

TEST_F(Compile, RefusesMacrosOfTheReferencePolicy) {
    EXPECT_EQ(refusal("policy_module(x, 1.0)\n"),
              "x.te:1: 'policy_module' is a macro of the reference policy; only the plain policy "
              "language is understood");
}

TEST_F(Compile, ExplainsAMissingTypeByLineAndName) {
    write_file(directory_ / "x.cil",
               "(typeattributeset cil_gen_require other_t)\n(allow other_t self (file (read)))\n");
    const CompiledModule module =
        compile_module(Context{}, directory_ / "x.cil", directory_ / "out", true);
    const Error error =
        explain_failure(Context{}, {module},
                        "Failed to resolve typeattributeset statement at "
                        "/var/lib/selinux/targeted/tmp/modules/400/x/cil:1\nsemodule:  Failed!\n");
    EXPECT_EQ(error.message(),
              (directory_ / "x.cil").string() + ": does not fit the image's policy");
    EXPECT_EQ(explain_failure(Context{}, {module}, "semodule: no memory\n").message(),
              "the image's semodule failed");
}

}  // namespace
}  // namespace edgegpu::selinux
