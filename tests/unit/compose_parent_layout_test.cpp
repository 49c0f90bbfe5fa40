#include "compose/parent_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compose/layout.hpp"
#include "customise_fixture.hpp"
#include "support/error.hpp"

namespace edgegpu::test {
namespace {

class ParentLayout : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
    }
    [[nodiscard]] EntryType type(const std::string& path) const {
        return tree.entries.at(path).type;
    }
    [[nodiscard]] std::string refusal() {
        try {
            undo_layout(ctx, tree);
        } catch (const Error& error) {
            return error.message();
        }
        return "none";
    }
    /// What the commit of the tree has: path → all that an object's checksum is of.
    [[nodiscard]] std::map<std::string, std::string> committed() const {
        std::map<std::string, std::string> seen;
        for (const auto& [path, entry] : tree.entries) {
            seen[path] =
                fmt::format("{} {:o} {}:{} {} {} {}", static_cast<int>(entry.type), entry.mode,
                            entry.uid, entry.gid, entry.target, entry.digest, entry.capabilities);
        }
        return seen;
    }
};

TEST_F(ParentLayout, KeepsMountPointsAndTheInitramfs) {
    file("/usr/lib/modules/6.1.0-1/initramfs.img", "its");
    finish_layout(ctx, tree);
    add_mount_points({"/data/models"}, tree);
    const auto before = committed();
    undo_layout(ctx, tree);
    EXPECT_FALSE(tree.entries.contains("/usr/lib/modules/6.1.0-1/initramfs.img"));
    ASSERT_TRUE(tree.parent_initramfs);
    EXPECT_EQ(read_file(tree.parent_initramfs->content), "its");
    put_entry(tree, "/usr/lib/modules/6.1.0-1/initramfs.img", *tree.parent_initramfs);
    finish_layout(ctx, tree);
    EXPECT_EQ(committed(), before);
}

TEST_F(ParentLayout, OtherContentAtTheTopIsNoMountPoint) {
    finish_layout(ctx, tree);
    add_mount_points({"/data"}, tree);
    file("/data/x", "x");
    undo_layout(ctx, tree);
    EXPECT_THROW(finish_layout(ctx, tree), Error);
}

TEST_F(ParentLayout, IsTheInverseOfTheLayoutOfACommit) {
    file("/etc/site.conf", "x");
    file("/opt/vendor/bin/tool", "x", 0755);
    file("/var/lib/alternatives/editor", "auto\n");
    file("/var/lib/app/seed", "seed", 0600);
    directory("/var/lib/app/spool dir", 01777, 990, 991);
    directory("/var/log/app", 0750, 990);
    link("/var/lib/app/current", "seed");
    directory("/run/app", 0711);
    finish_layout(ctx, tree);
    const auto before = committed();
    undo_layout(ctx, tree);
    EXPECT_EQ(text("/etc/site.conf"), "x");
    EXPECT_EQ(text("/opt/vendor/bin/tool"), "x");
    EXPECT_EQ(text("/var/lib/alternatives/editor"), "auto\n");
    EXPECT_EQ(text("/var/lib/app/seed"), "seed");
    EXPECT_EQ(tree.entries.at("/var/lib/app/seed").mode, 0600U);
    EXPECT_EQ(tree.entries.at("/var/lib/app/spool dir").mode, 01777U);
    EXPECT_EQ(tree.entries.at("/var/lib/app/spool dir").uid, 990U);
    EXPECT_EQ(tree.entries.at("/var/lib/app/current").target, "seed");
    EXPECT_EQ(type("/opt"), EntryType::directory);
    EXPECT_THAT(text("/etc/passwd"), ::testing::HasSubstr("chrony:x:990:991"));
    EXPECT_FALSE(tree.entries.contains("/usr/lib/passwd"));
    finish_layout(ctx, tree);
    EXPECT_EQ(committed(), before);
}

TEST_F(ParentLayout, WhatIsAddedGetsThePathsOfACommit) {
    finish_layout(ctx, tree);
    undo_layout(ctx, tree);
    file("/etc/new.conf", "x");
    file("/opt/new/file", "x");
    directory("/var/lib/new", 0700);
    finish_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/new.conf"), "x");
    EXPECT_EQ(text("/usr/lib/opt/new/file"), "x");
    EXPECT_THAT(text("/usr/lib/tmpfiles.d/edgegpu-var.conf"),
                ::testing::HasSubstr("d /var/lib/new 0700"));
}

TEST_F(ParentLayout, OnesOwnAccountStaysBesideTheOnesOfTheImage) {
    finish_layout(ctx, tree);
    file("/usr/etc/passwd", "root:x:0:0:root:/root:/bin/zsh\nops:x:1000:1000::/home/ops:/bin/sh\n");
    undo_layout(ctx, tree);
    EXPECT_EQ(text("/etc/passwd"),
              "root:x:0:0:root:/root:/bin/zsh\nchrony:x:990:991::/:/sbin/nologin\n"
              "ops:x:1000:1000::/home/ops:/bin/sh\n");
}

TEST_F(ParentLayout, AnInitramfsIsNotOfTheLayer) {
    file("/usr/lib/modules/6.1/vmlinuz", "kernel");
    finish_layout(ctx, tree);
    file("/usr/lib/modules/6.1/initramfs.img", "made of the parent");
    undo_layout(ctx, tree);
    EXPECT_FALSE(tree.entries.contains("/usr/lib/modules/6.1/initramfs.img"));
    EXPECT_TRUE(tree.entries.contains("/usr/lib/modules/6.1/vmlinuz"));
}

TEST_F(ParentLayout, LinesOfTmpfilesThatAreNoneAreLeftAlone) {
    finish_layout(ctx, tree);
    file("/usr/lib/tmpfiles.d/odd.conf",
         "d\nd /var\nd /var/%b 0755\nd /var/../etc/x 0755\nd /var/deep/below 0755\nL /var/l\n"
         "C /var/c - - - - /nowhere\nd /var/badmode 99 nobody 4294967296\n# d /var/comment\n");
    undo_layout(ctx, tree);
    for (const char* path :
         {"/var/%b", "/etc/x", "/var/deep/below", "/var/l", "/var/c", "/var/comment"}) {
        EXPECT_FALSE(tree.entries.contains(path)) << path;
    }
    EXPECT_EQ(tree.entries.at("/var/badmode").mode, 0755U);
}

TEST_F(ParentLayout, WhatIsNoCommitIsRefused) {
    EXPECT_THAT(refusal(), ::testing::HasSubstr("no /usr/etc"));
    file("/usr/etc/passwd", "");
    EXPECT_THAT(refusal(), ::testing::HasSubstr("both /etc and /usr/etc"));
}

}  // namespace
}  // namespace edgegpu::test
