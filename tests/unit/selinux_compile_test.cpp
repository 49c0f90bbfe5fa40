#include "selinux/modules/compile.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "selinux/modules/contexts.hpp"
#include "selinux/modules/failures.hpp"
#include "selinux/modules/interfaces.hpp"
#include "support/error.hpp"
#include "support/files/file.hpp"

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
                compile_module(Context{}, directory_ / "x.te", "", directory_ / "out", true));
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
    const CompiledModule module =
        compile_module(Context{}, directory_ / "x.te", "/opt/x -- system_u:object_r:a_t:s0\n",
                       directory_ / "out", true);
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

TEST_F(Compile, AModuleOfAnotherNameThanItsFileIsRefused) {
    EXPECT_EQ(refusal("module y 1.0;\nrequire { type a_t; }\n"),
              "x.te: the name of the module is 'y'");
}

TEST_F(Compile, ASourceReadsNoOtherFile) {
    const fs::path canary = directory_ / "canary";
    write_file(canary, "type secret_canary_t;\n");
    const std::string name = canary.string();
    for (const std::string& line :
         std::vector<std::string>{"include(`" + name + "')", "include \"" + name + "\"",
                                  "#include \"" + name + "\"", "#line 1 \"" + name + "\"\nsecret",
                                  "sinclude(`../canary')", "include ../out/../canary"}) {
        const std::string said = refusal("module x 1.0;\nrequire { type a_t; }\n" + line + "\n");
        EXPECT_THAT(said, testing::Not(testing::HasSubstr("secret_canary_t"))) << line;
    }
    for (const fs::path& made : fs::directory_iterator(directory_ / "out")) {
        EXPECT_THAT(read_file(made), testing::Not(testing::HasSubstr("secret_canary_t"))) << made;
    }
}

TEST_F(Compile, TakesOnlyWholeModulesThatComeCompiled) {
    write_file(directory_ / "x.pp", "no module");
    try {
        (void)compile_module(Context{}, directory_ / "x.pp", "", directory_ / "out", true);
        ADD_FAILURE() << "accepted";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(),
                  (directory_ / "x.pp").string() + ": not a compiled policy module");
    }
}

class Contexts : public Compile {
protected:
    /// A tree whose policy has these file contexts.
    [[nodiscard]] Tree tree_with(const std::string& contexts) const {
        Tree tree;
        Entry entry;
        entry.content = directory_ / "file_contexts";
        write_file(entry.content, contexts);
        tree.entries["/etc/selinux/targeted/contexts/files/file_contexts"] = entry;
        return tree;
    }
    [[nodiscard]] std::string filtered(const std::string& own, const std::string& known) const {
        write_file(directory_ / "x.te", "module x 1.0;\n");
        write_file(directory_ / "x.fc", own);
        PolicyPaths paths;
        paths.policy = "/etc/selinux/targeted";
        try {
            return new_contexts(Context{}, directory_ / "x.te",
                                known_contexts(tree_with(known), paths, {}), true);
        } catch (const Error& problem) {
            return problem.message().substr(directory_.string().size() + 1);
        }
    }
};

TEST_F(Contexts, WhatThePolicyHasAlreadyIsLeftOut) {
    EXPECT_EQ(
        filtered("# nodes\n/dev/gpu -c gen_context(u:r:gpu_t,s0)\n/a gen_context(u:r:a_t,s0)\n",
                 "/dev/gpu\t-c\tu:r:gpu_t:s0\n/a\t--\tu:r:other_t:s0\n"),
        "# nodes\n\n/a\t\tu:r:a_t:s0\n");
}

TEST_F(Contexts, OtherContextsForTheSamePatternAreRefused) {
    EXPECT_EQ(
        filtered("\n/dev/gpu -c gen_context(u:r:gpu_t,s0)\n", "/dev/gpu -c u:r:device_t:s0\n"),
        "x.fc:2: the image's policy labels '/dev/gpu' u:r:device_t already");
    EXPECT_EQ(filtered("/a u:r:a_t\n", ""),
              "x.fc:1: 'u:r:a_t' has no level, which the image's policy requires");
}

TEST_F(Compile, ANameThatTheImageHasIsRefused) {
    try {
        refuse_collisions({directory_ / "container.te"}, {{100, "base"}, {200, "container"}},
                          {"/usr/share/selinux/packages/container.pp.bz2"});
        ADD_FAILURE() << "accepted";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.message(),
                  (directory_ / "container.te").string() +
                      ": the image has a policy module 'container' already, at priority 200, from "
                      "/usr/share/selinux/packages/container.pp.bz2");
    }
    EXPECT_NO_THROW(refuse_collisions({directory_ / "x.te"}, {{100, "base"}}, {}));
}

/// What tools say about a module with macros, in the user's terms.
std::string explained(const std::string& output) {
    MacroModules modules;
    modules.sources = {"/w/selinux/x.te"};
    modules.files = {{"x.te",
                      "policy_module(x, 1.0)\ndev_rw_xserver_mics(x_t)\nallow x_t "
                      "y_t:file red_file_perms;\n"},
                     {"x.if", "interface(`x_do',`\n')\n"}};
    const Error problem = macro_error(output, modules, "selinux/",
                                      {"dev_rw_xserver_misc", "read_file_perms", "rw_file_perms"});
    EXPECT_EQ(problem.kind(), ErrorKind::usage);
    return problem.message() + (problem.hint().empty() ? "" : " | " + problem.hint());
}

TEST(MacroErrors, PointAtTheUsersLine) {
    EXPECT_EQ(explained("Compiling targeted x module\n"
                        "x.te:2:ERROR 'syntax error' at token 'dev_rw_xserver_mics' on line 3886:\n"
                        "dev_rw_xserver_mics(x_t)\n"),
              "selinux/x.te:2: no interface 'dev_rw_xserver_mics' in the image's policy | did you "
              "mean dev_rw_xserver_misc?");
    EXPECT_EQ(explained("x.te:3:ERROR 'permission red_file_perms is not defined for class file' at "
                        "token ';' on line 9:\n"),
              "selinux/x.te:3: permission red_file_perms is not defined for class file at ';'");
    EXPECT_EQ(explained("\"x.te\":3:ERROR 'unknown type y_t' at token ';' on line 3890:\n"),
              "selinux/x.te:3: unknown type y_t at ';' | what other modules declare is required "
              "first, in gen_require");
    EXPECT_EQ(explained("/usr/bin/m4:x.if:2: ERROR: end of file in string\n"),
              "selinux/x.if:2: end of file in string | quotes of macros must be balanced: ` and '");
    EXPECT_EQ(
        explained("checkmodule: Module name y is different than the output base filename x\n"),
        "selinux/x.te: the name of the module is 'y' | a module must have the name of its file: "
        "policy_module(NAME, VERSION) in NAME.te");
}

TEST(MacroErrors, NamesOfInterfacesAreReadFromTheirFiles) {
    EXPECT_EQ(defined_macros("# interface(`no',`\ninterface(`a_b',`\n\ttemplate(`c',`\n"
                             "define(`d_perms',`{ read }')\n"),
              (std::vector<std::string>{"a_b", "c", "d_perms"}));
}

class Failures : public Compile {
protected:
    /// The message for semodule's output about module "x" with this source.
    [[nodiscard]] Error explained(const std::string& name, const std::string& source,
                                  const std::string& output) const {
        write_file(directory_ / name, source);
        const CompiledModule module =
            compile_module(Context{}, directory_ / name, "", directory_ / "out", true);
        return explain_failure(Context{}, {module}, output);
    }
    [[nodiscard]] std::string message(const std::string& name, const std::string& source,
                                      const std::string& output) const {
        const std::string text = explained(name, source, output).message();
        const std::string where = directory_.string() + "/";
        return text.starts_with(where) ? text.substr(where.size()) : text;
    }
};

TEST_F(Failures, AMissingTypeHasFileAndLine) {
    const std::string output =
        "Failed to resolve typeattributeset statement at "
        "/var/lib/selinux/targeted/tmp/modules/400/x/cil:1\nsemodule:  Failed!\n";
    EXPECT_EQ(message("x.te",
                      "module x 1.0;\nrequire { type other_t;\n class file read; }\n"
                      "allow other_t self:file read;\n",
                      output),
              "x.te:2: the image's policy has no 'other_t'");
    EXPECT_EQ(message("x.cil", "(typeattributeset cil_gen_require other_t)\n", output),
              "x.cil:1: the image's policy has no 'other_t'");
}

TEST_F(Failures, AMisspeltTypeIsToldFromAMissingOne) {
    write_file(directory_ / "x.te",
               "module x 1.0;\nrequire {\n type containr_t;\n type gone_t;\n class file read;\n}\n"
               "allow containr_t gone_t:file read;\n");
    const CompiledModule module =
        compile_module(Context{}, directory_ / "x.te", "", directory_ / "out", true);
    const KnownTypes known{[](std::string_view name) { return name != "containr_t"; },
                           {"container_t", "node_t", "container_file_t"}};
    const auto explained_by = [&](const KnownTypes& types) {
        return explain_failure(Context{}, {module},
                               "Failed to resolve typeattributeset statement at "
                               "/var/lib/selinux/targeted/tmp/modules/400/x/cil:1\n",
                               types);
    };
    const Error misspelt = explained_by(known);
    EXPECT_THAT(misspelt.message(),
                testing::HasSubstr("x.te:3: the image's policy has no 'containr_t'"));
    EXPECT_EQ(misspelt.hint(), "did you mean container_t?");
    EXPECT_TRUE(misspelt.traces().empty());
    const Error both = explained_by({[](std::string_view) { return false; }, known.names});
    EXPECT_EQ(both.hint(),
              "did you mean container_t? And install the package whose policy module defines it");
    ASSERT_EQ(both.traces().size(), 1U);
    EXPECT_THAT(both.traces()[0], testing::HasSubstr("x.te:4: the image's policy has no 'gone_t'"));
}

TEST_F(Failures, AllMissingTypesAreNamedAtOnce) {
    write_file(directory_ / "x.te",
               "module x 1.0;\nrequire {\n type container_file_t;\n type bin_t;\n type plain;\n"
               " attribute gone_attribute;\n class file read;\n}\ntype own_t;\n"
               "allow own_t container_file_t:file read;\nallow bin_t plain:file read;\n"
               "typeattribute own_t gone_attribute;\n");
    write_file(
        directory_ / "y.cil",
        "(typeattributeset cil_gen_require own_t)\n(typeattributeset cil_gen_require svirt_t)\n");
    const CompiledModule te =
        compile_module(Context{}, directory_ / "x.te", "", directory_ / "out", true);
    const CompiledModule pp{"x", directory_ / "ready.pp", te.file};
    const CompiledModule cil{"y", directory_ / "y.cil", directory_ / "y.cil"};
    const KnownTypes knows{[](std::string_view name) { return name == "bin_t"; }, {"bin_t"}};
    const std::string output =
        "Failed to resolve typeattributeset statement at "
        "/var/lib/selinux/targeted/tmp/modules/400/y/cil:2\n";
    const auto words = [&](const std::vector<CompiledModule>& modules) {
        std::string text = explain_failure(Context{}, modules, output, knows).render();
        const std::string where = directory_.string() + "/";
        for (std::size_t at = 0; (at = text.find(where)) != std::string::npos;) {
            text.erase(at, where.size());
        }
        return text;
    };
    const std::string all = words({te, cil});
    EXPECT_THAT(all, testing::HasSubstr("y.cil:2: the image's policy has no 'svirt_t'\n"));
    EXPECT_THAT(all, testing::HasSubstr("'svirt_t': perhaps in svirt-selinux, by its name"));
    EXPECT_THAT(all, testing::HasSubstr("x.te:3: the image's policy has no 'container_file_t': "
                                        "perhaps in container-selinux, by its name"));
    EXPECT_THAT(all, testing::HasSubstr("x.te:5: the image's policy has no 'plain'\n"));
    EXPECT_THAT(all, testing::HasSubstr("x.te:6: the image's policy has no 'gone_attribute'"));
    EXPECT_THAT(all, testing::HasSubstr("install the packages whose policy modules define them"));
    EXPECT_THAT(all, testing::Not(testing::HasSubstr("bin_t")));
    EXPECT_THAT(all, testing::Not(testing::HasSubstr("own_t'")));
    // Of a ready-made module there is no line, and the type of x is nobody's without x.
    EXPECT_THAT(words({pp, cil}),
                testing::HasSubstr("ready.pp: the image's policy has no 'container_file_t'"));
    EXPECT_THAT(words({cil}), testing::HasSubstr("y.cil:1: the image's policy has no 'own_t'"));
}

TEST_F(Failures, ADeclarationThatIsThereAlreadyHasFileAndLine) {
    const Error error = explained(
        "x.te",
        "module x 1.0;\nrequire { class file read; }\ntype container_t;\n"
        "allow container_t self:file read;\n",
        "Re-declaration of type container_t\nPrevious declaration of type at "
        "/var/lib/selinux/targeted/tmp/modules/200/container/cil:7\nFailed to build AST\n");
    EXPECT_EQ(error.message(),
              (directory_ / "x.te").string() +
                  ":3: the image's policy declares the type 'container_t' already");
}

TEST_F(Failures, ABrokenNeverallowNamesBothRules) {
    const std::string others =
        "neverallow check failed at /m/modules/100/base/cil:6253\n"
        "  (neverallow base_typeattr_5 memory_device_t (blk_file (write append)))\n    <root>\n"
        "    allow at /m/modules/200/container/cil:165\n"
        "      (allow container_domain device_node (blk_file (read write)))\n\n";
    const std::string own =
        "neverallow check failed at /m/modules/100/base/cil:5136\n"
        "  (neverallow base_typeattr_1 shadow_t (file (read)))\n    <root>\n"
        "    allow at /m/modules/400/x/cil:3\n"
        "      (allow a_t shadow_t (file (read open)))\n\nFailed to generate binary\n";
    EXPECT_TRUE(is_broken_neverallow(others));
    const Error error = explained("x.te",
                                  "module x 1.0;\nrequire { type a_t, shadow_t; class file { read "
                                  "open }; }\nallow a_t shadow_t:file { read open };\n",
                                  others + own);
    EXPECT_EQ(
        error.message(),
        (directory_ / "x.te").string() +
            ":3: 'allow a_t shadow_t:file { read open }' violates a neverallow rule of the policy");
    EXPECT_EQ(error.traces(),
              (std::vector<std::string>{"neverallow base_typeattr_1 shadow_t:file { read }"}));
    const CompiledModule module{"x", directory_ / "x.te", directory_ / "out/x.pp"};
    EXPECT_TRUE(concerns({module}, others + own));
    EXPECT_FALSE(concerns({module}, others));
}

TEST_F(Failures, AContextOfAMissingTypePointsIntoTheFileContexts) {
    write_file(directory_ / "x.te", "module x 1.0;\nrequire { type a_t; }\n");
    write_file(directory_ / "x.fc", "# x\n/opt/bad -- u:object_r:nosuch_t:s0\n");
    const CompiledModule module =
        compile_module(Context{}, directory_ / "x.te", "/opt/bad -- u:object_r:nosuch_t:s0\n",
                       directory_ / "out", true);
    EXPECT_EQ(explain_failure(Context{}, {module},
                              "Failed to resolve filecon statement at /m/modules/400/x/cil:2\n")
                  .message(),
              (directory_ / "x.fc").string() +
                  ":2: the image's policy has no context 'u:object_r:nosuch_t'");
}

TEST_F(Failures, AMissingPermissionIsNamed) {
    EXPECT_EQ(message("x.te",
                      "module x 1.0;\nrequire { type a_t; class file { read nosuch }; }\n"
                      "allow a_t self:file nosuch;\n",
                      "Failed to resolve permission nosuch\nFailed to resolve allow statement at "
                      "/m/modules/400/x/cil:2\n"),
              "x.te:2: the class 'file' has no permission 'nosuch'");
}

TEST_F(Failures, ACompiledModuleThatNobodyCanReadIsNamed) {
    write_file(
        directory_ / "x.te",
        "module x 1.0;\nrequire { type a_t; class file { read write open }; }\ntype b_t; "
        "bool q false; attribute g; typeattribute b_t g;\nallow b_t a_t:file { read write };\n"
        "if (q) { allow a_t b_t:file open; }\n");
    const CompiledModule good =
        compile_module(Context{}, directory_ / "x.te", "", directory_ / "out", true);
    const std::string whole = read_file(good.file);
    const std::string output = "libsemanage: Failed to compile hll files into cil files.\n";
    const auto explain = [&](const std::string& content) {
        const fs::path file = directory_ / "out" / "y.pp";
        write_file(file, content);
        const CompiledModule bad{"y", directory_ / "y.pp", file};
        return explain_failure(Context{}, {good, bad}, output);
    };
    EXPECT_EQ(explain(whole).message(), "the image's semodule failed");
    std::string huge = whole;
    huge.replace(huge.size() - 60, 4, "\xff\xff\xff\x7f");
    // libsepol 3.4 reads behind the end of a table for this one, and crashes.
    std::string crash = whole;
    crash.replace(265, 4, "\xff\xff\xff\xff");
    for (const std::string& content :
         {whole.substr(0, whole.size() - 20), huge, crash, std::string()}) {
        const Error problem = explain(content);
        EXPECT_EQ(problem.kind(), ErrorKind::usage);
        EXPECT_EQ(problem.message(),
                  (directory_ / "y.pp").string() + ": not a module that the policy tools can read");
        ASSERT_EQ(problem.traces().size(), 2U);
        EXPECT_NE(problem.traces().front(), "");
        EXPECT_THAT(problem.traces().back(), testing::HasSubstr("Failed to compile hll files"));
    }
}

TEST_F(Failures, OthersCarryTheOutput) {
    EXPECT_EQ(message("x.cil", "(a)\n(call nothing (x))\n",
                      "Failed to resolve call statement at /m/modules/400/x/cil:2\n"),
              "x.cil:2: incompatible with the image's policy");
    EXPECT_EQ(message("x.cil", "(a)\n", "semodule: no memory\n"), "the image's semodule failed");
}

}  // namespace
}  // namespace edgegpu::selinux
