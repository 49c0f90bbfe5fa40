#include <gtest/gtest.h>

#include "compose/layout.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

class Layout : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
    }
    [[nodiscard]] bool has(const std::string& path) const { return tree.entries.contains(path); }
    [[nodiscard]] std::string target(const std::string& path) const {
        return tree.entries.at(path).target;
    }
    [[nodiscard]] bool has_line(const std::string& line) const {
        return text("/usr/lib/tmpfiles.d/edgegpu-var.conf").find(line + "\n") != std::string::npos;
    }
};

TEST_F(Layout, EveryParentIsADirectory) {
    file("/var/lib/a/b", "x");
    file("/opt/vendor/bin/x", "x");
    finish_layout(ctx, tree);
    for (const auto& [path, entry] : tree.entries) {
        if (path != "/") {
            const std::string parent = std::filesystem::path(path).parent_path().string();
            ASSERT_TRUE(has(parent)) << path;
            EXPECT_EQ(tree.entries.at(parent).type, EntryType::directory) << path;
        }
    }
}

TEST_F(Layout, EtcMovesAndMachineIdIsEmpty) {
    finish_layout(ctx, tree);
    EXPECT_FALSE(has("/etc"));
    EXPECT_EQ(text("/usr/etc/machine-id"), "");
    EXPECT_EQ(tree.entries.at("/usr/etc/machine-id").mode, 0444U);
    EXPECT_EQ(tree.entries.at("/usr/etc/shadow").mode, 0U);
}

TEST_F(Layout, WhatUsersAndContainerImagesBringStays) {
    const std::string layer = "/usr/share/containers/storage/overlay/1/diff";
    for (const std::string& top : {std::string("/opt/app"), layer + "/usr/lib/python3.11"}) {
        file(top + "/__pycache__/app.cpython-311.pyc", "code");
    }
    file(layer + "/usr/lib64/libnss_altfiles.so.2", "");
    file("/usr/lib64/libc.so.6", "");
    file("/usr/share/doc/libnss_altfiles.so.2", "");
    file("/etc/nsswitch.conf", "passwd: files\n");
    file("/etc/passwd-", "root:x:0:0::/root:/bin/sh\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/lib/opt/app/__pycache__/app.cpython-311.pyc"), "code");
    EXPECT_EQ(text(layer + "/usr/lib/python3.11/__pycache__/app.cpython-311.pyc"), "code");
    EXPECT_EQ(text("/usr/etc/nsswitch.conf"), "passwd: files\n");
    EXPECT_NE(text("/usr/etc/passwd").find("chrony:"), std::string::npos);
    EXPECT_TRUE(has("/usr/etc/passwd-"));
    EXPECT_TRUE(console.warnings().empty());
}

TEST_F(Layout, AMachineIdForAllDevicesIsLeftOutAloud) {
    file("/etc/machine-id", "0123456789abcdef0123456789abcdef\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/machine-id"), "");
    ASSERT_EQ(console.warnings().size(), 1U);
    EXPECT_NE(console.warnings()[0].find("/etc/machine-id"), std::string::npos);
}

TEST_F(Layout, AMachineIdThatAsksForAFirstBootStays) {
    file("/etc/machine-id", "uninitialized\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/machine-id"), "uninitialized\n");
    EXPECT_TRUE(console.warnings().empty());
}

TEST_F(Layout, FilesInVarThatTmpfilesMakesAreNotLostInSilence) {
    file("/usr/lib/tmpfiles.d/app.conf",
         "f /var/lib/app/log 0640 - - -\n"
         "f /var/lib/app/settings 0640 - - -\n"
         "C /var/lib/app/seed - - - -\n"
         "C /var/lib/app/copy - - - - /usr/share/app/copy\n"
         "L /var/lib/app/other - - - - /usr/share/app/other\n");
    file("/usr/share/app/copy", "copy");
    file("/usr/share/app/other", "theirs");
    file("/var/lib/app/log", "");
    file("/var/lib/app/settings", "mine");
    file("/var/lib/app/seed", "seed");
    file("/var/lib/app/copy", "copy");
    file("/var/lib/app/other", "mine");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/share/factory/var/lib/app/seed"), "seed") << "where C looks for it";
    EXPECT_FALSE(has("/usr/share/factory/var/lib/app/copy"));
    ASSERT_EQ(console.warnings().size(), 1U);
    EXPECT_NE(console.warnings()[0].find("/var/lib/app/settings"), std::string::npos);
    EXPECT_NE(console.warnings()[0].find("/var/lib/app/other"), std::string::npos);
    EXPECT_EQ(console.warnings()[0].find("/var/lib/app/seed"), std::string::npos);
    EXPECT_EQ(console.warnings()[0].find("/var/lib/app/log"), std::string::npos);
}

TEST_F(Layout, AFactoryFileIsNotReplaced) {
    file("/var/lib/app/seed", "one");
    file("/usr/share/factory/var/lib/app/seed", "another");
    EXPECT_NE(error_of([&] {
                  finish_layout(ctx, tree);
              }).find("/usr/share/factory/var/lib/app/seed in a commit, and the image has another"),
              std::string::npos);
}

TEST_F(Layout, AnotherLinkAtADevicesPlaceIsAnError) {
    link("/opt", "usr/lib/vendor");
    EXPECT_NE(error_of([&] {
                  finish_layout(ctx, tree);
              }).find("/opt is a link to usr/lib/vendor in the image"),
              std::string::npos);
}

TEST_F(Layout, TheSameLinkAtADevicesPlaceIsNone) {
    link("/opt", "/var/opt");
    finish_layout(ctx, tree);
    EXPECT_EQ(target("/opt"), "var/opt");
}

TEST_F(Layout, VarBecomesTmpfilesAndFilesAreReported) {
    directory("/var/lib/chrony", 0750, 990, 991);
    link("/var/lib/current", "chrony");
    file("/var/lib/chrony/seed", "s", 0640);
    file("/usr/lib/tmpfiles.d/var.conf", "d /var/log 0755 - - -\n");
    directory("/var/log", 0700);
    directory("/run/chrony", 0750);
    finish_layout(ctx, tree);
    EXPECT_TRUE(has_line("d /var/lib/chrony 0750 chrony chrony -"));
    EXPECT_TRUE(has_line("L /var/lib/current - - - - chrony"));
    EXPECT_TRUE(
        has_line("C /var/lib/chrony/seed 0640 root root - "
                 "/usr/share/factory/var/lib/chrony/seed"));
    EXPECT_TRUE(has_line("d /run/chrony 0750 root root -"));
    EXPECT_FALSE(has_line("d /var/log 0700 root root -"));
    EXPECT_EQ(text("/usr/share/factory/var/lib/chrony/seed"), "s");
    EXPECT_FALSE(has("/var/lib"));
    ASSERT_EQ(console.warnings().size(), 1U);
    EXPECT_NE(console.warnings()[0].find("1 regular file in /var"), std::string::npos);
    EXPECT_NE(console.warnings()[0].find("/var/lib/chrony/seed"), std::string::npos);
}

TEST_F(Layout, DevicesPlacesAreLinksIntoVar) {
    directory("/home");
    file("/root/.bashrc", "x");
    file("/opt/vendor/tool", "t", 0755);
    finish_layout(ctx, tree);
    EXPECT_EQ(target("/home"), "var/home");
    EXPECT_EQ(target("/root"), "var/roothome");
    EXPECT_EQ(target("/usr/local"), "../var/usrlocal");
    EXPECT_EQ(target("/ostree"), "sysroot/ostree");
    EXPECT_EQ(tree.entries.at("/tmp").mode, 01777U);
    EXPECT_TRUE(has_line("L /var/opt/vendor - - - - ../../usr/lib/opt/vendor"));
    EXPECT_EQ(text("/usr/lib/opt/vendor/tool"), "t");
    EXPECT_TRUE(
        has_line("C /var/roothome/.bashrc 0644 root root - "
                 "/usr/share/factory/var/roothome/.bashrc"));
}

TEST_F(Layout, ImagesOwnTmpfilesFollowTheLinks) {
    file("/usr/lib/tmpfiles.d/home.conf", "# x\nQ /home 0755 - - -\nq /srv 0755 - - -\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/lib/tmpfiles.d/home.conf"),
              "# x\nQ /var/home 0755 - - -\nq /var/srv 0755 - - -\n");
}

TEST_F(Layout, PolicyStoreAndRpmdbAreInTheCommit) {
    file("/etc/selinux/semanage.conf", "module-store = direct\nstore-root=/var/lib/selinux\n");
    file("/etc/selinux/targeted/contexts/files/file_contexts.subs_dist", "/run /var/run\n");
    file("/var/lib/selinux/targeted/active/commit_num", "1");
    file("/usr/share/rpm/rpmdb.sqlite", "db");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/selinux/semanage.conf"),
              "module-store = direct\nstore-root=/etc/selinux\n");
    EXPECT_EQ(text("/usr/etc/selinux/targeted/active/commit_num"), "1");
    EXPECT_NE(text("/usr/etc/selinux/targeted/contexts/files/file_contexts.subs_dist")
                  .find("/var/home /home\n"),
              std::string::npos);
    EXPECT_EQ(target("/usr/lib/sysimage/rpm"), "../../share/rpm");
    EXPECT_EQ(text("/usr/lib/sysimage/rpm-ostree-base-db/rpmdb.sqlite"), "db");
    EXPECT_TRUE(has_line("L /var/lib/rpm - - - - ../../usr/share/rpm"));
}

TEST_F(Layout, BootKeepsNoSecondKernel) {
    file("/boot/vmlinuz-6.1.0-1", "k");
    file("/boot/config-6.1.0-1", "c");
    finish_layout(ctx, tree);
    EXPECT_FALSE(has("/usr/lib/ostree-boot/vmlinuz-6.1.0-1"));
    EXPECT_EQ(text("/usr/lib/ostree-boot/config-6.1.0-1"), "c");
    EXPECT_FALSE(has("/boot/config-6.1.0-1"));
}

TEST_F(Layout, AccountsStayWholeWithoutAltfiles) {
    finish_layout(ctx, tree);
    EXPECT_NE(text("/usr/etc/passwd").find("chrony:"), std::string::npos);
    EXPECT_NE(text("/usr/lib/passwd").find("chrony:x:990:991:"), std::string::npos);
}

TEST_F(Layout, AccountsAreSplitForAltfiles) {
    file("/usr/lib64/libc.so.6", "");
    file("/usr/lib64/libnss_altfiles.so.2", "");
    file("/etc/nsswitch.conf", "passwd: files systemd\nhosts: files\n");
    file("/etc/passwd", text("/etc/passwd") + "admin:x:1000:1000::/home/admin:/bin/bash\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/passwd"),
              "root:x:0:0:root:/root:/bin/bash\nadmin:x:1000:1000::/home/admin:/bin/bash\n");
    EXPECT_NE(text("/usr/lib/passwd").find("chrony:"), std::string::npos);
    EXPECT_EQ(text("/usr/lib/passwd").find("admin:"), std::string::npos);
    EXPECT_EQ(text("/usr/etc/nsswitch.conf"), "passwd: files altfiles systemd\nhosts: files\n");
}

TEST_F(Layout, ForAltfilesInAnyDirectoryOf64BitLibraries) {
    file("/usr/lib/x86_64-linux-gnu/libc.so.6", "");
    file("/usr/lib64/libnss_altfiles.so.2", "");
    file("/etc/nsswitch.conf", "passwd: files\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/nsswitch.conf"), "passwd: files altfiles\n");
}

TEST_F(Layout, NotForAltfilesOf32Bits) {
    file("/usr/lib64/libc.so.6", "");
    file("/usr/lib/libc.so.6", "");
    file("/usr/lib/libnss_altfiles.so.2", "");
    file("/etc/nsswitch.conf", "passwd: files\n");
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/nsswitch.conf"), "passwd: files\n");
}

TEST_F(Layout, NamesWithBlanksAreQuotedOnLinesOfTmpfiles) {
    file("/opt/site tool/x", "x");
    file("/var/lib/a b%c", "x");
    file("/usr/lib/tmpfiles.d/app.conf", "d \"/srv/own one\" 0750 - - -\n");
    directory("/var/srv/own one");
    finish_layout(ctx, tree);
    EXPECT_TRUE(has_line(R"(L "/var/opt/site tool" - - - - ../../usr/lib/opt/site\x20tool)"));
    EXPECT_TRUE(
        has_line(R"(C "/var/lib/a b%%c" 0644 root root - /usr/share/factory/var/lib/a\x20b%%c)"));
    EXPECT_EQ(text("/usr/lib/tmpfiles.d/app.conf"), "d \"/var/srv/own one\" 0750 - - -\n");
    EXPECT_FALSE(has_line("d \"/var/srv/own one\" 0755 root root -"));
}

TEST_F(Layout, WhatHasNoPlaceIsAnError) {
    file("/data/x", "");
    EXPECT_EQ(error_of([&] { finish_layout(ctx, tree); }).substr(0, 42),
              "/data: a commit cannot contain this path|p");
}

TEST_F(Layout, ImageMustBeUsrMerged) {
    directory("/lib");
    EXPECT_NE(error_of([&] { finish_layout(ctx, tree); }).find("not usr-merged"),
              std::string::npos);
}

}  // namespace
}  // namespace edgegpu::test
