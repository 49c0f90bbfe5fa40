#include <gtest/gtest.h>

#include "customise/kernel/kernel_arguments.hpp"
#include "customise/kernel/modprobe.hpp"
#include "customise/kernel/modprobe_check.hpp"
#include "customise_fixture.hpp"

namespace edgegpu::test {
namespace {

using Strings = std::vector<std::string>;

class Modprobe : public TreeTest {
protected:
    void SetUp() override {
        TreeTest::SetUp();
        modprobe.location = {"b.toml", 4, 1};
        modprobe.blacklist = {"nouveau"};
        const std::string modules = "/usr/lib/modules/6.1.0-1/";
        file(modules + "modules.dep",
             "kernel/drm.ko.xz:\nkernel/nouveau.ko.xz: kernel/drm.ko.xz\nkernel/snd-x.ko:\n");
        file(modules + "modules.builtin", "kernel/fs/ext4.ko\n");
        file(modules + "modules.alias", "alias pci:v10DE* nouveau\n");
    }
    std::string failure() {
        return error_of([&] { check_modprobe(ctx, modprobe, tree); });
    }
    ModprobeRequest modprobe;
};

TEST_F(Modprobe, ReachesTheInitramfs) {
    modprobe.options = {{"nvidia", "NVreg_X=1"}};
    modprobe.softdeps = {{"nvidia", {{"i2c-core", "drm"}, {"nvidia-uvm"}}}};
    add_modprobe(ctx, modprobe, tree);
    EXPECT_EQ(text("/etc/modprobe.d/edgegpu.conf"),
              "blacklist nouveau\noptions nvidia NVreg_X=1\n"
              "softdep nvidia pre: i2c-core drm post: nvidia-uvm\n");
    EXPECT_EQ(text("/usr/lib/dracut/dracut.conf.d/90-edgegpu.conf"),
              "install_items+=\" /etc/modprobe.d/edgegpu.conf \"\nomit_drivers+=\" nouveau \"\n");
    modprobe.blacklist = {"other"};
    EXPECT_EQ(error_of([&] { add_modprobe(ctx, modprobe, tree); }),
              "b.toml:4:1: the image has a file /etc/modprobe.d/edgegpu.conf already|[modprobe] "
              "writes that file: give yours another name; if it is that of [parent], leave "
              "[modprobe] out, and put more into a file of another name in /etc/modprobe.d "
              "(customizations.files)");
    modprobe.blacklist = {"a\nb"};
    EXPECT_NE(
        error_of([&] { add_modprobe(ctx, modprobe, tree); }).find("invalid kernel module name"),
        std::string::npos);
}

TEST_F(Modprobe, OptionsDoNotContinueTheLine) {
    modprobe.options = {{"nvidia", "NVreg_X=1\\"}};
    EXPECT_EQ(error_of([&] { add_modprobe(ctx, modprobe, tree); }),
              "b.toml:4:1: the options of kernel module \"nvidia\" end with a backslash, which "
              "continues the line in modprobe.d|leave it out");
}

TEST_F(Modprobe, ADisabledDriverIsAnError) {
    const auto disabled = [&] { return error_of([&] { check_driver_is_not_disabled(tree); }); };
    const std::string hint = "|remove that, or [nvidia]";
    tree.kernel_arguments = {"modprobe.blacklist=nouveau,nvidia-drm,nvidia-uvm",
                             "rd.driver.blacklist=nvidia"};
    file("/etc/modprobe.d/a.conf",
         "# blacklist nvidia\nblacklist nvidia_uvm\ninstall nvidia /sbin/modprobe -i nvidia\n");
    check_driver_is_not_disabled(tree);
    tree.kernel_arguments.emplace_back("module_blacklist=x,nvidia-uvm");
    EXPECT_EQ(disabled(),
              "the driver of [nvidia] would not be loaded: kernel argument "
              "module_blacklist=x,nvidia-uvm" +
                  hint);
    tree.kernel_arguments = {"modprobe.blacklist=nvidia"};
    EXPECT_EQ(disabled(),
              "the driver of [nvidia] would not be loaded: kernel argument "
              "modprobe.blacklist=nvidia" +
                  hint);
    file("/etc/modprobe.d/b.conf", "\nblacklist nvidia\n");
    EXPECT_EQ(disabled(),
              "the driver of [nvidia] would not be loaded: /etc/modprobe.d/b.conf:2: blacklist "
              "nvidia" +
                  hint);
    file("/etc/modprobe.d/b.conf", "install nvidia-uvm /bin/false\n");
    EXPECT_EQ(disabled(),
              "the driver of [nvidia] would not be loaded: /etc/modprobe.d/b.conf:1: install "
              "nvidia-uvm /bin/false" +
                  hint);
}

TEST_F(Modprobe, EarlyBootIsToldOfTheBlacklistOnce) {
    modprobe.blacklist = {"nouveau", "nova-core"};
    EXPECT_EQ(blacklist_arguments(modprobe, {}), (Strings{"rd.driver.blacklist=nouveau,nova-core",
                                                          "modprobe.blacklist=nouveau,nova-core"}));
    EXPECT_EQ(blacklist_arguments(modprobe,
                                  {"rd.driver.blacklist=x,nova_core", "modprobe.blacklist=nouveau",
                                   "modprobe.blacklist=nova-core"}),
              Strings{"rd.driver.blacklist=nouveau"});
    record_kernel_arguments(ctx, {"rd.driver.blacklist=nouveau,nova_core", "a=\"b\""}, {}, modprobe,
                            tree);
    EXPECT_EQ(text("/usr/lib/bootc/kargs.d/10-edgegpu.toml"),
              "kargs = [\"rd.driver.blacklist=nouveau,nova_core\", \"a=\\\"b\\\"\", "
              "\"modprobe.blacklist=nouveau,nova-core\"]\n");
}

TEST_F(Modprobe, WhatLoadsABlacklistedModuleIsNamed) {
    EXPECT_EQ(failure(), "");
    const auto by = [&](const std::string& path, const std::string& content) {
        file(path, content);
        std::string text = failure();
        remove_entry(tree, path);
        const std::string prefix =
            "b.toml:4:1: the blacklisted kernel module nouveau would be loaded: ";
        EXPECT_EQ(text.substr(0, prefix.size()), text.empty() ? "" : prefix);
        return text.empty() ? "nothing"
                            : text.substr(prefix.size(), text.find('|') - prefix.size());
    };
    EXPECT_EQ(by("/usr/lib/modprobe.d/a.conf", "# x\nsoftdep nvidia post: \\\n  nouveau\n"),
              "/usr/lib/modprobe.d/a.conf:2: softdep nvidia post:    nouveau");
    EXPECT_EQ(by("/etc/modprobe.d/a.conf", "install drm /sbin/modprobe nouveau; true\n"),
              "/etc/modprobe.d/a.conf:1: install drm /sbin/modprobe nouveau; true");
    EXPECT_EQ(by("/etc/modprobe.d/a.conf", "install nouveau /bin/false\n"), "nothing");
    EXPECT_EQ(by("/etc/modprobe.d/a.conf", "softdep nouveau pre: drm\n"), "nothing");
    EXPECT_EQ(by("/etc/modprobe.d/a.conf.rpmsave", "softdep drm pre: nouveau\n"), "nothing");
    EXPECT_EQ(by("/usr/lib/modules-load.d/gpu.conf", "drm\nnouveau\n"),
              "/usr/lib/modules-load.d/gpu.conf:2");
    EXPECT_EQ(by("/usr/lib/systemd/system/gpu.service",
                 "[Service]\nExecStartPre=-/usr/sbin/modprobe -q nouveau\n"),
              "/usr/lib/systemd/system/gpu.service:2: ExecStartPre=-/usr/sbin/modprobe -q nouveau");
    EXPECT_EQ(
        by("/etc/systemd/system/gpu.service.d/a.conf", "[Unit]\nWants=modprobe@nouveau.service"),
        "/etc/systemd/system/gpu.service.d/a.conf:2: Wants=modprobe@nouveau.service");
    EXPECT_EQ(by("/usr/lib/systemd/system/gpu.service", "ExecStart=/sbin/modprobe -r nouveau\n"),
              "nothing");
    EXPECT_EQ(
        by("/usr/lib/udev/rules.d/9.rules", "ACTION==\"add\", RUN+=\"/sbin/modprobe nouveau\"\n"),
        "/usr/lib/udev/rules.d/9.rules:1: ACTION==\"add\", RUN+=\"/sbin/modprobe nouveau\"");
    link("/etc/systemd/system/sysinit.target.wants/modprobe@nouveau.service", "/usr/lib/x");
    EXPECT_NE(failure().find("/sysinit.target.wants/modprobe@nouveau.service"), std::string::npos);
}

TEST_F(Modprobe, AFileOfEtcHidesItsNamesake) {
    file("/usr/lib/modprobe.d/a.conf", "softdep drm post: nouveau\n");
    EXPECT_NE(failure(), "");
    link("/etc/modprobe.d/a.conf", "/dev/null");
    EXPECT_EQ(failure(), "");
}

TEST_F(Modprobe, KernelArgumentsAndDependencies) {
    tree.kernel_arguments = {"quiet", "rd.driver.pre=drm,nouveau"};
    EXPECT_EQ(
        failure(),
        "b.toml:4:1: the blacklisted kernel module nouveau would be loaded: kernel argument "
        "rd.driver.pre=drm,nouveau|remove the module from the blacklist or from that argument");
    tree.kernel_arguments = {"modules_load=nouveau"};
    EXPECT_NE(failure().find("kernel argument modules_load=nouveau"), std::string::npos);
    tree.kernel_arguments.clear();
    modprobe.blacklist = {"drm"};
    EXPECT_EQ(failure(),
              "b.toml:4:1: the blacklisted kernel module drm would be loaded: nouveau needs it|"
              "blacklist these as well, or remove it from the blacklist");
    modprobe.blacklist = {"drm", "nouveau"};
    EXPECT_EQ(failure(), "");
    modprobe.blacklist = {"ext4"};
    EXPECT_EQ(failure(),
              "b.toml:4:1: the blacklisted kernel module ext4 is built into the kernel|it cannot "
              "be blacklisted: remove it from the blacklist");
}

TEST_F(Modprobe, MissingModulesAreWarnedOf) {
    modprobe.blacklist = {"nouveu"};
    modprobe.options = {{"snd_x", "a=1"}, {"nvidia", "b=1"}};
    modprobe.softdeps = {{"ext4", {{"drn"}, {}}}};
    console.begin_stage("customise");
    EXPECT_EQ(failure(), "");
    EXPECT_EQ(console.warnings(), Strings{"[modprobe] names kernel modules that the image does not "
                                          "have: nouveu, nvidia, drn"});
}

TEST_F(Modprobe, TheInitramfsHasNoBlacklistedModule) {
    check_initramfs_modules(
        modprobe, {"/usr/lib/modules/6/kernel/drm.ko", "/etc/nouveau.conf", "/usr/bin/nouveau"});
    EXPECT_EQ(
        error_of([&] { check_initramfs_modules(modprobe, {"/usr/lib/modules/6/nouveau.ko.zst"}); }),
        "b.toml:4:1: dracut put the blacklisted kernel module "
        "/usr/lib/modules/6/nouveau.ko.zst into the initramfs|look for add_drivers and "
        "force_drivers in /usr/lib/dracut/dracut.conf.d and /etc/dracut.conf.d of the image");
}

}  // namespace
}  // namespace edgegpu::test
