#include "rootfs/tool_root.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packages_fixture.hpp"
#include "small_root.hpp"

namespace edgegpu::test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

class Tools : public PackagesTest {
protected:
    void SetUp() override {
        PackagesTest::SetUp();
        package("filesystem", {},
                {"/usr/bin/", "/usr/lib64/", "/etc/", "/bin -> usr/bin", "/lib64 -> usr/lib64"});
        package("maker", {"runtime", "libmake.so.1()(64bit)"},
                {"/usr/bin/maker", "/etc/maker.conf"});
        package("runtime", {}, {"/usr/bin/sort", "/usr/share/runtime/data"});
        package("libmake", {"libdeep.so.2()(64bit)"},
                {"/usr/lib64/libmake.so.1", "/usr/bin/libtool"}, {"libmake.so.1()(64bit)"});
        package("libdeep", {}, {"/usr/lib64/libdeep.so.2"}, {"libdeep.so.2()(64bit)"});
        package("copied", {"libdeep.so.2()(64bit)", "/bin/shell", "docs"},
                {"/usr/bin/copied", "/usr/share/copied/data"});
        package("shell", {}, {"/usr/bin/shell", "/etc/shellrc"});
        package("docs", {}, {"/usr/share/docs"});
        package("unrelated", {"libother.so()(64bit)"},
                {"/usr/bin/unrelated", "/etc/read.d/of-unrelated"});
        package("libother", {}, {"/usr/lib64/libother.so"}, {"libother.so()(64bit)"});
        graph = unite_packages();
        needs.name = "tools";
        needs.runs = [](std::string_view path) { return path == "/usr/bin/maker"; };
        needs.uses = [](std::string_view path) { return path == "/usr/bin/copied"; };
        needs.reads = [](std::string_view path) {
            return path.starts_with("/etc/read.d/") || path.starts_with("/usr/libexec/");
        };
        needs.hidden = [](std::string_view path) { return path == "/etc/made"; };
    }
    [[nodiscard]] ToolRoot tools() const { return {ctx, tree, graph, needs}; }
    [[nodiscard]] std::string digest() const { return tools().digest(); }
    [[nodiscard]] std::vector<std::string> paths() const {
        std::vector<std::string> found;
        const ToolRoot made = tools();
        for (const auto& [path, entry] : made.tree().entries) {
            found.push_back(path);
        }
        return found;
    }

    PackageGraph graph;
    ToolNeeds needs;
};

TEST_F(Tools, HasWhatRunsWithAllThatItRequires) {
    EXPECT_THAT(paths(), IsSupersetOf({"/", "/usr", "/usr/bin", "/usr/bin/maker", "/etc/maker.conf",
                                       "/usr/bin/sort", "/usr/share/runtime/data",
                                       "/usr/lib64/libmake.so.1", "/usr/lib64/libdeep.so.2"}));
}

TEST_F(Tools, HasWhatIsUsedWithLibrariesAndInterpreters) {
    EXPECT_THAT(paths(), IsSupersetOf({"/usr/bin/copied", "/usr/share/copied/data",
                                       "/usr/bin/shell", "/usr/lib64/libdeep.so.2"}));
    EXPECT_THAT(paths(), Not(Contains("/usr/share/docs")));
    EXPECT_THAT(paths(), Not(Contains("/etc/shellrc")));
}

TEST_F(Tools, HasSingleFilesAndNothingElse) {
    file("/etc/read.d/of-nobody", "x");
    EXPECT_THAT(paths(), IsSupersetOf({"/etc/read.d/of-unrelated", "/etc/read.d/of-nobody"}));
    for (const char* path : {"/usr/bin/unrelated", "/usr/lib64/libother.so", "/etc/shellrc"}) {
        EXPECT_THAT(paths(), Not(Contains(path)));
    }
}

TEST_F(Tools, OnlyWhatIsInItChangesTheDigest) {
    const std::string before = digest();
    EXPECT_EQ(digest(), before);
    file("/usr/bin/new", "program", 0755);
    file("/usr/lib64/libother.so", "changed");
    file("/etc/ld.so.preload", "/usr/lib64/libother.so");
    file("/etc/made", "x");
    remove_entry(tree, "/usr/share/docs");
    EXPECT_EQ(digest(), before);
    const auto expect_another = [&](const std::string& what, const std::function<void()>& change) {
        const Entries kept = tree.entries;
        change();
        EXPECT_NE(digest(), before) << what;
        tree.entries = kept;
        EXPECT_EQ(digest(), before) << what;
    };
    expect_another("content", [&] { file("/usr/lib64/libdeep.so.2", "changed"); });
    expect_another("mode", [&] { tree.entries.at("/etc/maker.conf").mode = 0600; });
    expect_another("owner", [&] { tree.entries.at("/etc/maker.conf").uid = 7; });
    expect_another("capabilities", [&] { tree.entries.at("/usr/bin/sort").capabilities = "c"; });
    expect_another("directory", [&] { tree.entries.at("/usr/bin").mode = 0700; });
    expect_another("a file that is gone", [&] { remove_entry(tree, "/etc/maker.conf"); });
    expect_another("a link", [&] {
        remove_entry(tree, "/etc/maker.conf");
        link("/etc/maker.conf", "other");
    });
    expect_another("a new file", [&] { file("/etc/read.d/new", ""); });
}

TEST_F(Tools, LinksAreThereIfWhatTheyLeadToIs) {
    link("/usr/bin/alternative", "../../etc/alternatives/alternative");
    link("/etc/alternatives/alternative", "/usr/bin/sort");
    link("/usr/lib64/libmake.so", "libmake.so.1");
    link("/usr/bin/other", "unrelated");
    link("/usr/bin/loop", "loop");
    EXPECT_THAT(paths(), IsSupersetOf({"/usr/bin/alternative", "/etc/alternatives/alternative",
                                       "/usr/lib64/libmake.so"}));
    EXPECT_THAT(paths(), Not(Contains("/usr/bin/other")));
    link("/etc/read.d/to-docs", "../../usr/share/docs");
    EXPECT_THAT(paths(), Contains("/usr/share/docs"));
}

TEST_F(Tools, AScriptOfNobodyComesWithItsInterpreter) {
    file("/usr/libexec/script", "#! /bin/unrelated -x\n", 0755);
    EXPECT_THAT(paths(), IsSupersetOf({"/usr/libexec/script", "/usr/bin/unrelated",
                                       "/usr/lib64/libother.so"}));
    EXPECT_THAT(paths(), Not(Contains("/usr/share/docs")));
}

TEST_F(Tools, ABinaryOfNobodyMayNeedAnything) {
    file("/usr/libexec/binary",
         "\x7f"
         "ELF",
         0755);
    EXPECT_THAT(paths(),
                IsSupersetOf({"/usr/libexec/binary", "/usr/share/docs", "/usr/bin/unrelated"}));
    file("/etc/made", "x");
    EXPECT_THAT(paths(), Not(Contains("/etc/made")));
}

TEST_F(Tools, AProgramThatAScriptletChangedMayNeedAnything) {
    file("/usr/bin/sort", "#!/bin/sh\n/usr/bin/unrelated\n", 0755);
    EXPECT_THAT(paths(), IsSupersetOf({"/usr/share/docs", "/usr/bin/unrelated"}));
}

TEST_F(Tools, FilesInsteadOfTheImagesCountAndAreThere) {
    const std::string before = digest();
    needs.instead.emplace("/etc/maker.conf", make_file_entry(ctx, "other", 0644));
    const std::string instead = digest();
    EXPECT_NE(instead, before);
    file("/etc/maker.conf", "whatever");
    EXPECT_EQ(digest(), instead);
    EXPECT_EQ(read_entry(tools().tree(), "/etc/maker.conf"), "other");
}

TEST_F(Tools, WhatIsAddedIsNotInTheDigest) {
    ToolRoot made = tools();
    const std::string before = made.digest();
    made.add("/etc/made", make_file_entry(ctx, "index", 0644));
    EXPECT_EQ(made.digest(), before);
    EXPECT_EQ(read_entry(made.tree(), "/etc/made"), "index");
}

/// With a shell and a few programs of this machine, which no package brings.
class RunningTools : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        add_all_from_disk(ctx, tree, make_small_root(scratch));
        needs.name = "tools";
        needs.runs = [](std::string_view path) { return path == "/usr/bin/sh"; };
        needs.uses = needs.reads = [](std::string_view) { return false; };
        needs.hidden = [](std::string_view path) { return path == "/etc/hidden"; };
        ctx.source_date_epoch = 1700000000;
    }
    std::string output(ToolRoot& tools, const std::string& script) {
        SandboxCommand command;
        command.argv = {"sh", "-c", script};
        const ProcessResult result = tools.run(command);
        EXPECT_EQ(result.status, 0);
        return result.output;
    }
    ToolNeeds needs;
};

TEST_F(RunningTools, SeeTheFilesAndATimeThatIsAlwaysTheSame) {
    file("/etc/hidden", "x");
    file("/etc/seen", "seen", 0640);
    ToolRoot tools(ctx, tree, {}, needs);
    EXPECT_EQ(output(tools, "cat /etc/seen; echo $SOURCE_DATE_EPOCH"), "seen1\n");
    EXPECT_EQ(output(tools, "cat /etc/hidden 2>/dev/null || echo none"), "none\n");
    EXPECT_EQ(output(tools,
                     "[ /etc/seen -nt /usr/bin/cat ] || [ /usr/bin/cat -nt /etc/seen ] ||"
                     " echo same"),
              "same\n");
}

TEST_F(RunningTools, CannotChangeTheImageOrTheCache) {
    file("/etc/seen", "seen");
    const Entry before = tree.entries.at("/etc/seen");
    ToolRoot tools(ctx, tree, {}, needs);
    static_cast<void>(output(tools, "echo changed >/etc/seen; echo new >/etc/new"));
    EXPECT_EQ(read_file(before.content), "seen");
    EXPECT_EQ(text("/etc/seen"), "seen");
    tools.sync();
    EXPECT_EQ(read_entry(tools.tree(), "/etc/new"), "new\n");
    EXPECT_FALSE(tree.entries.contains("/etc/new"));
    tools.add("/etc/added", make_file_entry(ctx, "later", 0644));
    EXPECT_EQ(output(tools, "cat /etc/added /etc/seen"), "laterchanged\n");
}

}  // namespace
}  // namespace edgegpu::test
