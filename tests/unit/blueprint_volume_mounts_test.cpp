#include "blueprint/volume_mounts.hpp"

#include <gmock/gmock.h>

namespace edgegpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is said of the mounts at /data.
std::vector<std::string> refused(const std::string& path, const std::string& text) {
    EXPECT_TRUE(is_mount_file(path)) << path;
    return refused_mounts({"/data"}, {{path, {"overlay/file", true, text}}});
}

std::vector<std::string> refused_line(const std::string& line) {
    return refused("/etc/fstab", line);
}

std::vector<std::string> refused_unit(const std::string& settings) {
    return refused("/etc/systemd/system/data.mount",
                   "[Mount]\nWhat=LABEL=x\nWhere=/data\n" + settings);
}

std::string misplaced(const std::string& path, const std::string& text) {
    EXPECT_TRUE(is_mount_file(path)) << path;
    std::string said;
    const std::vector<std::string> directories{"/data/models"};
    for (const MisplacedMount& mount : misplaced_mounts(directories, {{path, {"f", true, text}}})) {
        said += mount.problem + "|" + mount.hint;
    }
    return said;
}

TEST(VolumeMounts, PointsThatDevicesCannotHaveAreMisplaced) {
    EXPECT_EQ(misplaced("/usr/lib/systemd/system/mnt-usb.mount", "[Mount]\nWhere=/mnt/usb\n"),
              "f: Where=/mnt/usb goes through a link of the device, where systemd mounts nothing|"
              "mount at /var/mnt/usb, in a unit called var-mnt-usb.mount");
    EXPECT_EQ(misplaced("/etc/systemd/system/srv-m.automount", "[Automount]\nWhere=/srv/m\n"),
              "f: Where=/srv/m goes through a link of the device, where systemd mounts nothing|"
              "mount at /var/srv/m, in a unit called var-srv-m.automount");
    EXPECT_THAT(misplaced("/etc/systemd/system/scratch.mount", "[Mount]\nWhere=/scratch\n"),
                HasSubstr("nobody can make /scratch for Where=/scratch"));
    for (const char* where : {"/data", "/data/models", "/var/lib/x", "/boot/efi", "/run/media/x"}) {
        EXPECT_EQ(
            misplaced("/etc/systemd/system/x.mount", std::string("[Mount]\nWhere=") + where + "\n"),
            "");
    }
    EXPECT_EQ(misplaced("/etc/fstab", "LABEL=x /mnt/x ext4\n"), "");
    EXPECT_THAT(misplaced_mounts(std::nullopt, {{"/etc/systemd/system/scratch.mount",
                                                 {"f", true, "[Mount]\nWhere=/scratch\n"}}}),
                IsEmpty());
}

TEST(VolumeMounts, AnotherTypeIsRefused) {
    EXPECT_THAT(
        refused_line("# text\nLABEL=x /data xfs defaults 0 0\n"),
        ElementsAre("overlay/file:2: /data would be mounted as xfs, but it is ext4: devices "
                    "would not start"));
    EXPECT_THAT(refused_line("LABEL=x /data btrfs subvol=data 0 0"),
                ElementsAre(HasSubstr("as btrfs")));
    EXPECT_THAT(refused_unit("Type=xfs\n"),
                ElementsAre("overlay/file: /data would be mounted as xfs, but it is ext4: devices "
                            "would not start"));
    for (const char* line :
         {"LABEL=x /data ext4 defaults 0 2", "LABEL=x /data auto", "LABEL=x /data/y xfs",
          "#LABEL=x /data xfs", "/var/x /data none bind 0 0", "LABEL=x /data", "x\n\n"}) {
        EXPECT_THAT(refused_line(line), IsEmpty()) << line;
    }
}

TEST(VolumeMounts, OptionsOfOtherFileSystemsAreRefused) {
    for (const char* option :
         {"prjquota", "pquota", "uquota", "compress=zstd", "compress-force=lzo:3", "subvol=data",
          "subvolid=5", "inode64", "logbsize=256k", "allocsize=1g", "space_cache=v2", "ssd",
          "nouuid", "defalts"}) {
        const std::string name = std::string(option).substr(0, std::string(option).find('='));
        const auto said = ElementsAre(HasSubstr("with \"" + name + "\", but it is ext4"));
        EXPECT_THAT(refused_line(std::string("LABEL=x /data ext4 noatime,") + option + " 0 2"),
                    said);
        EXPECT_THAT(refused_unit(std::string("Options=noatime,") + option + "\n"), said);
    }
    for (const char* options :
         {"defaults", "noatime,nodiratime,lazytime", "rw,nosuid,nodev,noexec", "errors=remount-ro",
          "commit=60,data=ordered,discard", "x-systemd.growfs,X-mount.mkdir", "usrquota,grpquota",
          R"(context="system_u:object_r:data_t:s0:c1,c2",noatime)", "nofail,_netdev"}) {
        EXPECT_THAT(refused_line(std::string("LABEL=x /data ext4 ") + options), IsEmpty())
            << options;
        EXPECT_THAT(refused_unit(std::string("Options=") + options), IsEmpty()) << options;
    }
}

TEST(VolumeMounts, WhatNeedNotBeMountedKeepsNoDeviceFromStarting) {
    for (const char* name : {"nofail", "noauto", "x-systemd.automount"}) {
        const std::string end =
            std::string("but it is ext4: with \"") + name + "\" devices would start without it";
        EXPECT_THAT(refused_line(std::string("LABEL=x /data xfs noatime,") + name + " 0 0"),
                    ElementsAre("overlay/file:1: /data would be mounted as xfs, " + end));
        EXPECT_THAT(refused_line(std::string("LABEL=x /data ext4 pquota,") + name),
                    ElementsAre(HasSubstr("with \"pquota\", " + end)));
        // The line of the disk's fstab requires the mount, whatever the unit says.
        EXPECT_THAT(refused_unit(std::string("Type=xfs\nOptions=") + name),
                    ElementsAre(HasSubstr("devices would not start")));
        EXPECT_THAT(refused_mounts(
                        {"/"}, {{"/etc/fstab", {"f", true, std::string("LABEL=x / xfs ") + name}}}),
                    ElementsAre(HasSubstr("devices would not start")));
    }
    EXPECT_THAT(refused_line("LABEL=x /data xfs auto,x-systemd.device-timeout=5 0 0"),
                ElementsAre(HasSubstr("devices would not start")));
}

TEST(VolumeMounts, DropInsCountAndUnitsBelowUsrDoNot) {
    const std::string options = "[Mount]\nOptions=compress=zstd\n";
    for (const char* top : {"/etc", "/usr/lib"}) {
        EXPECT_THAT(refused(std::string(top) + "/systemd/system/data.mount.d/10.conf", options),
                    ElementsAre(HasSubstr("compress")));
    }
    EXPECT_THAT(refused("/usr/lib/systemd/system/data.mount", "[Mount]\nWhere=/data\nType=xfs\n"),
                IsEmpty());
    EXPECT_THAT(refused("/etc/systemd/system/data2.mount", "[Mount]\nWhere=/data2\nType=xfs\n"),
                IsEmpty());
    EXPECT_FALSE(is_mount_file("/etc/systemd/system/data.service"));
    EXPECT_FALSE(is_mount_file("/etc/x.mount"));
}

TEST(VolumeMounts, LinksOfDeploymentsAreResolved) {
    const MountFiles table{{"/etc/fstab", {"f", true, "LABEL=x /home xfs"}}};
    EXPECT_THAT(refused_mounts({"/var/home"}, table), ElementsAre(HasSubstr("/var/home would be")));
    const MountFiles unit{
        {"/etc/systemd/system/home.mount", {"f", true, "[Mount]\nWhere=/home\nType=xfs"}}};
    EXPECT_THAT(refused_mounts({"/var/home"}, unit), ElementsAre(HasSubstr("/var/home would be")));
}

TEST(VolumeMounts, UnitsAreNamedAsSystemdEscapesPaths) {
    EXPECT_EQ(mount_unit_of("/var/lib/my-data"), R"(var-lib-my\x2ddata.mount)");
    EXPECT_EQ(mount_unit_of("/.a.b/@"), R"(\x2ea.b-\x40.mount)");
    EXPECT_EQ(mount_unit_of("/"), "-.mount");
}

}  // namespace
}  // namespace edgegpu
