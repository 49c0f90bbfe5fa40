#include "customise/initramfs/boot_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "packages_fixture.hpp"

namespace edgegpu::test {
namespace {

class BootTools : public PackagesTest {
protected:
    void SetUp() override {
        PackagesTest::SetUp();
        package("dracut", {"bash"},
                {"/usr/bin/dracut", "/usr/lib/dracut/modules.d/90lvm/module-setup.sh"});
        package("bash", {}, {"/usr/bin/bash"});
        package("kmod", {}, {"/usr/sbin/depmod"});
        package("kernel", {},
                {"/usr/lib/modules/6.1.0-1/kernel/a.ko", "/usr/lib/modules/6.1.0-1/modules.order",
                 "/usr/lib/modules/5.0/kernel/a.ko"});
        package("lvm2", {"libdm.so()(64bit)"}, {"/usr/sbin/lvm", "/usr/share/lvm/profile"});
        package("libdm", {}, {"/usr/lib64/libdm.so", "/usr/bin/dmtool"}, {"libdm.so()(64bit)"});
        package("jq", {}, {"/usr/bin/jq", "/usr/share/jq/x"});
        package("podman", {}, {"/usr/bin/podman", "/usr/lib/systemd/system/lvm2-podman.service"});
        graph = unite_packages();
        file("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nchrony:x:990:991::/:/bin/false\n");
        file("/etc/group", "root:x:0:\nchrony:x:991:\n");
        tree.packaged_accounts = {{"/etc/passwd", text("/etc/passwd")},
                                  {"/etc/group", text("/etc/group")}};
        file("/usr/lib/dracut/modules.d/90lvm/module-setup.sh",
             "require_binaries lvm\ninst_multiple -o /opt/tool/conf \"$systemdsystemunitdir\"/"
             "lvm2-*.service\n");
        before = digest();
    }
    [[nodiscard]] ToolRoot tools() const { return {ctx, tree, graph, boot_tools(ctx, tree)}; }
    [[nodiscard]] std::string digest() const { return tools().digest(); }
    [[nodiscard]] bool has(std::string_view path) const {
        return tools().tree().entries.contains(path);
    }

    PackageGraph graph;
    std::string before;
};

TEST_F(BootTools, ArePackagesOfWhatDracutMentions) {
    for (const char* path :
         {"/usr/bin/dracut", "/usr/bin/bash", "/usr/sbin/depmod", "/usr/sbin/lvm",
          "/usr/share/lvm/profile", "/usr/lib64/libdm.so",
          "/usr/lib/systemd/system/lvm2-podman.service", "/usr/lib/modules/6.1.0-1/kernel/a.ko"}) {
        EXPECT_TRUE(has(path)) << path;
    }
    for (const char* path : {"/usr/bin/jq", "/usr/share/jq/x", "/usr/bin/podman", "/usr/bin/dmtool",
                             "/usr/lib/modules/5.0/kernel/a.ko"}) {
        EXPECT_FALSE(has(path)) << path;
    }
}

TEST_F(BootTools, WhatDracutDoesNotSpeakOfMakesNoDifference) {
    file("/etc/microshift/config.yaml", "new");
    file("/etc/app.conf", "new");
    file("/etc/passwd", text("/etc/passwd") + "admin:x:1000:1000::/home/admin:/bin/bash\n");
    file("/usr/lib/sysusers.d/app.conf", "u app -\n");
    file("/usr/bin/app", "a program that no module of dracut speaks of", 0755);
    file("/usr/bin/jq", "changed", 0755);
    file("/usr/lib/systemd/system/app.service", "and a unit");
    file("/usr/lib/modules/6.1.0-1/modules.dep", "what depmod makes");
    file("/usr/lib/modules/6.1.0-1/initramfs.img", "what dracut makes");
    file("/etc/ld.so.cache", "what ldconfig makes");
    EXPECT_EQ(digest(), before);
}

TEST_F(BootTools, WhatDracutMayTakeMakesADifference) {
    const auto expect_another = [&](const std::string& path, const std::string& content) {
        const Entries kept = tree.entries;
        file(path, content);
        EXPECT_NE(digest(), before) << path;
        tree.entries = kept;
    };
    expect_another("/usr/share/lvm/profile", "changed");
    expect_another("/usr/lib64/libdm.so", "changed");
    expect_another("/usr/sbin/lvm", "changed");
    expect_another("/opt/tool/conf", "mentioned with its path");
    expect_another("/etc/modprobe.d/edgegpu.conf", "blacklist nouveau\n");
    expect_another("/etc/depmod.d/x.conf", "search updates\n");
    expect_another("/etc/dracut.conf.d/x.conf", "omit_drivers+=\" x \"\n");
    expect_another("/usr/lib/firmware/x.bin", "firmware");
    expect_another("/usr/lib/udev/rules.d/60-x.rules", "rules");
    expect_another("/usr/lib/modules/6.1.0-1/kernel/b.ko", "module");
    expect_another("/usr/lib/modules/6.1.0-1/modules.order", "changed");
    expect_another("/usr/lib/dracut/modules.d/99new/module-setup.sh", "inst jq");
    EXPECT_EQ(digest(), before);
    tree.packaged_accounts["/etc/passwd"] += "sys:x:3:3::/:/sbin/nologin\n";
    EXPECT_NE(digest(), before);
}

TEST_F(BootTools, AccountsOfPeopleAreNotThere) {
    tree.packaged_accounts["/etc/passwd"] += "kiosk:x:1000:1000::/:/bin/sh\n";
    EXPECT_EQ(digest(), before);
    EXPECT_EQ(read_entry(tools().tree(), "/etc/passwd").find("kiosk"), std::string::npos);
}

}  // namespace
}  // namespace edgegpu::test
