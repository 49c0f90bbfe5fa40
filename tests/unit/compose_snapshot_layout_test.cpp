#include "compose/snapshot_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

using testing::HasSubstr;

class SnapshotLayout : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        accounts();
        tree.kernel = "6.4.0-1-default";
    }
    [[nodiscard]] bool has(const std::string& path) const { return tree.entries.contains(path); }
    [[nodiscard]] std::string target(const std::string& path) const {
        return tree.entries.at(path).target;
    }
};

TEST_F(SnapshotLayout, ConfigurationStaysWhereItIs) {
    file("/usr/etc/vendor.conf", "vendor");
    file("/etc/own.conf", "own");
    finish_snapshot_layout(ctx, tree);
    EXPECT_EQ(text("/usr/etc/vendor.conf"), "vendor");
    EXPECT_EQ(text("/etc/own.conf"), "own");
    EXPECT_FALSE(has("/ostree"));
    EXPECT_FALSE(has("/sysroot"));
    EXPECT_EQ(text("/etc/machine-id"), "");
}

TEST_F(SnapshotLayout, BootHasTheKernelAndNoInitramfs) {
    file("/boot/initrd-6.4.0-1-default", "made by a scriptlet");
    file("/boot/vmlinuz-5.0.0-default", "another");
    file("/boot/grub2/themes/x", "theme");
    finish_snapshot_layout(ctx, tree);
    EXPECT_EQ(target("/boot/vmlinuz-6.4.0-1-default"),
              "../usr/lib/modules/6.4.0-1-default/vmlinuz");
    EXPECT_EQ(target("/boot/vmlinuz"), "vmlinuz-6.4.0-1-default");
    EXPECT_FALSE(has("/boot/initrd-6.4.0-1-default"));
    EXPECT_FALSE(has("/boot/vmlinuz-5.0.0-default"));
    EXPECT_TRUE(has("/boot/grub2/themes/x"));
}

TEST_F(SnapshotLayout, TheDatabaseIsWhereRpmOfSuseHasIt) {
    file("/usr/share/rpm/rpmdb.sqlite", "rows");
    tree.entries["/usr/lib/sysimage/rpm"] = link_to("../../share/rpm");
    finish_snapshot_layout(ctx, tree);
    EXPECT_EQ(text("/usr/lib/sysimage/rpm/rpmdb.sqlite"), "rows");
    EXPECT_FALSE(has("/usr/share/rpm"));
    EXPECT_THAT(text("/usr/lib/tmpfiles.d/edgegpu-var.conf"),
                HasSubstr("L /var/lib/rpm - - - - ../../usr/lib/sysimage/rpm\n"));
}

TEST_F(SnapshotLayout, WhatIsTheDevicesIsLeftOutAndTold) {
    file("/opt/vendor/tool", "x");
    file("/usr/local/bin/tool", "x");
    file("/var/lib/thing/state", "x");
    tree.entries["/home/empty"] = directory_entry(0755);
    testing::internal::CaptureStderr();
    finish_snapshot_layout(ctx, tree);
    const std::string told = testing::internal::GetCapturedStderr();
    for (const char* gone : {"/opt/vendor", "/usr/local/bin", "/home/empty", "/var/lib"}) {
        EXPECT_FALSE(has(gone)) << gone;
    }
    EXPECT_EQ(tree.entries.at("/root").mode, 0700U);
    EXPECT_THAT(told, HasSubstr("left out: /opt/vendor/tool (and everything else in /opt"));
    EXPECT_THAT(told, HasSubstr("left out: /usr/local/bin/tool"));
    EXPECT_THAT(told, testing::Not(HasSubstr("/home")));
    EXPECT_EQ(text("/usr/share/factory/var/lib/thing/state"), "x");
}

TEST_F(SnapshotLayout, AccountsOfPackagesHaveTheNumbersOfTheirFiles) {
    tree.packaged_accounts["/etc/passwd"] =
        "root:x:0:0:root:/root:/bin/bash\nchrony:x:990:989:100% "
        "\"time\":/var/lib/chrony:/sbin/nologin\n";
    tree.packaged_accounts["/etc/group"] = "root:x:0:\nvideo:x:39:chrony\nchrony:x:989:\n";
    finish_snapshot_layout(ctx, tree);
    const std::string lines = text("/usr/lib/sysusers.d/00-edgegpu.conf");
    EXPECT_THAT(lines, HasSubstr("g chrony 989\n"));
    EXPECT_THAT(lines, HasSubstr("u chrony 990:989 \"100%% time\" \"/var/lib/chrony\" "
                                 "\"/sbin/nologin\"\n"));
    EXPECT_THAT(lines, HasSubstr("m chrony video\n"));
}

TEST_F(SnapshotLayout, AnImageIsKnownByItsFiles) {
    Tree other = tree;
    finish_snapshot_layout(ctx, tree);
    const std::string id = text("/usr/lib/edgegpu/image-id");
    EXPECT_EQ(id.size(), 65U);
    tree = other;
    finish_snapshot_layout(ctx, tree);
    EXPECT_EQ(text("/usr/lib/edgegpu/image-id"), id);
    tree = other;
    file("/usr/share/new", "x");
    finish_snapshot_layout(ctx, tree);
    EXPECT_NE(text("/usr/lib/edgegpu/image-id"), id);
}

}  // namespace
}  // namespace edgegpu::test
