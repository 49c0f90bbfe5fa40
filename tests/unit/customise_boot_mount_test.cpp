#include "customise/health/boot_mount.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "customise_fixture.hpp"
#include "pipeline/image_mounts.hpp"

namespace edgegpu::test {
namespace {

using BootMount = TreeTest;

constexpr const char* etc_unit = "/etc/systemd/system/boot.mount";
constexpr const char* usr_unit = "/usr/lib/systemd/system/boot.mount";

TEST_F(BootMount, OptionsOfFstab) {
    EXPECT_EQ(read_only_boot_mount(tree), "");
    const std::vector<std::pair<std::string, bool>> cases{
        {"/dev/sda2 /boot ext4 ro 0 2\n", true},
        {"/dev/sda2\t/boot\text4\tnoatime,ro,nodev 0 2", true},
        {"/dev/sda2 /boot ext4 ro,rw 0 2\n", false},
        {"/dev/sda2 /boot ext4 rw,ro 0 2\n", true},
        {"/dev/sda2 /boot ext4 errors=remount-ro 0 2\n", false},
        {"/dev/sda2 /boot ext4\n", false},
        {"# /dev/sda2 /boot ext4 ro\n#/dev/sda2 /boot ext4 ro\n", false},
        {"/dev/sda1 /boot/efi vfat ro 0 2\n", false},
        {"ro\n\n", false}};
    for (const auto& [text, read_only] : cases) {
        file("/etc/fstab", text);
        EXPECT_EQ(read_only_boot_mount(tree), read_only ? "/etc/fstab" : "") << text;
    }
}

TEST_F(BootMount, UnitsInTheOrderOfSystemd) {
    file(usr_unit, "[Mount]\nWhere=/boot\nOptions=ro\n");
    EXPECT_EQ(read_only_boot_mount(tree), usr_unit);
    file("/etc/fstab", "/dev/sda2 /boot ext4 defaults 0 2\n");
    EXPECT_EQ(read_only_boot_mount(tree), "") << "what is made of fstab hides it";
    file(etc_unit, "[Mount]\nWhere=/boot\nOptions = noatime,ro\n");
    EXPECT_EQ(read_only_boot_mount(tree), etc_unit);
    file(etc_unit, "[Unit]\nOptions=ro\n[Mount]\nWhat=/dev/sda2\n");
    EXPECT_EQ(read_only_boot_mount(tree), "");
}

TEST_F(BootMount, DropInsComeAfterwards) {
    const std::string usr = std::string(usr_unit) + ".d/";
    const std::string etc = std::string(etc_unit) + ".d/";
    file("/etc/fstab", "/dev/sda2 /boot ext4 defaults 0 2\n");
    file(usr + "50-ro.conf", "[Mount]\nOptions=ro\n");
    EXPECT_EQ(read_only_boot_mount(tree), usr + "50-ro.conf");
    file(usr + "60-other.conf", "[Mount]\nTimeoutSec=5\n");
    EXPECT_EQ(read_only_boot_mount(tree), usr + "50-ro.conf");
    file(etc + "50-ro.conf", "");
    EXPECT_EQ(read_only_boot_mount(tree), "") << "hidden";
    file(etc + "40-ro.conf", "[Mount]\nOptions=ro\n");
    EXPECT_EQ(read_only_boot_mount(tree), etc + "40-ro.conf");
    file(usr + "70-rw.conf", "[Mount]\nOptions=rw\n");
    EXPECT_EQ(read_only_boot_mount(tree), "");
}

using ImageMounts = TreeTest;

TEST_F(ImageMounts, ThoseOfPackagesAreLookedAt) {
    Blueprint blueprint;
    file("/usr/lib/systemd/system/mnt-usb.mount", "[Mount]\nWhat=LABEL=x\nWhere=/mnt/usb\n");
    file("/usr/lib/systemd/system/dev-hugepages.mount", "[Mount]\nWhere=/dev/hugepages\n");
    check_image_mounts(ctx, blueprint, tree);
    EXPECT_EQ(
        console.warnings(),
        std::vector<std::string>{
            "/usr/lib/systemd/system/mnt-usb.mount of the image: Where=/mnt/usb goes through a "
            "link of the device, where systemd mounts nothing: mount at /var/mnt/usb, in a "
            "unit called var-mnt-usb.mount"});
    tree.update_system = UpdateSystem::snapshots;
    check_image_mounts(ctx, blueprint, tree);
    EXPECT_EQ(console.warnings().size(), 1U) << "no links there";
    blueprint.image.volumes.emplace_back().mounts = {{"/data", ""}};
    file("/etc/systemd/system/data.mount", "[Mount]\nWhere=/data\nType=xfs\n");
    EXPECT_TRUE(error_of([&] { check_image_mounts(ctx, blueprint, tree); })
                    .starts_with("/etc/systemd/system/data.mount of the image: /data would be "
                                 "mounted as xfs"));
}

}  // namespace
}  // namespace edgegpu::test
