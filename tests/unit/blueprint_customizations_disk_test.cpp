#include <gmock/gmock.h>

#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class CustomizationsDiskTest : public BlueprintTest {
protected:
    [[nodiscard]] DiskSizes least(const std::string& text) const {
        return parse("distro = \"lab-12\"\n" + text).image.least;
    }
    [[nodiscard]] std::vector<Volume> volumes(const std::string& text) const {
        return parse("distro = \"lab-12\"\n" + text).image.volumes;
    }
    [[nodiscard]] std::vector<std::string> warnings(const std::string& text) const {
        return parse("distro = \"lab-12\"\n" + text).warnings;
    }
    /// The first mistake, with its hint, of a blueprint whose second line is the first of `text`.
    void expect_mistake(const std::string& text, const std::string& expected) const {
        const std::string said = failure_of(text);
        EXPECT_EQ(said.find("error: b.toml:" + expected), 0U) << said;
    }
};

constexpr std::uint64_t one_gib = 1ULL << 30U;

std::string file_system(const std::string& lines) {
    return "[[customizations.filesystem]]\n" + lines + "\n";
}

std::string partition(const std::string& lines) {
    return "[[customizations.disk.partitions]]\n" + lines + "\n";
}

TEST_F(CustomizationsDiskTest, fileSystemsAreLeastSizes) {
    EXPECT_EQ(least(file_system("mountpoint = \"/\"\nminsize = 5368709120") +
                    file_system("mountpoint = \"/boot\"\nsize = \"1 GiB\"")),
              (DiskSizes{0, 5 * one_gib, one_gib, 0}));
    EXPECT_EQ(least(file_system("mountpoint = \"/\"")), DiskSizes{});
}

TEST_F(CustomizationsDiskTest, partitionsAreLeastSizes) {
    EXPECT_EQ(
        least("[customizations]\npartitioning_mode = \"raw\"\n"
              "[customizations.disk]\ntype = \"gpt\"\nminsize = \"20 GiB\"\n" +
              partition("type = \"plain\"\nmountpoint = \"/\"\nfs_type = \"ext4\"\nminsize = "
                        "\"10 GiB\"") +
              partition("mountpoint = \"/boot\"\nminsize = \"1 GiB\"") +
              partition("mountpoint = \"/boot/efi\"\nfs_type = \"vfat\"\nminsize = \"2 GiB\"")),
        (DiskSizes{20 * one_gib, 10 * one_gib, one_gib, 2 * one_gib}));
}

TEST_F(CustomizationsDiskTest, labelsAreNotDroppedInSilence) {
    EXPECT_THAT(warnings(partition("mountpoint = \"/\"\nlabel = \"data\"")),
                ElementsAre(HasSubstr("b.toml:4:9: the label has no effect: / gets that of")));
    EXPECT_THAT(warnings(partition("mountpoint = \"/data\"\npart_label = \"data\"")),
                ElementsAre(HasSubstr("b.toml:4:14: customizations.disk.partitions.part_label has "
                                      "no effect")));
}

TEST_F(CustomizationsDiskTest, allOtherMountPointsAreVolumes) {
    const Blueprint blueprint =
        parse("distro = \"lab-12\"\n" + file_system("mountpoint = \"/var\"\nminsize = \"2 GiB\"") +
              file_system("mountpoint = \"/home\"") +
              file_system("mountpoint = \"/data/x\"\nminsize = 1\nlabel = \"x\"") +
              file_system("mountpoint = \"/tmp\"\nminsize = 104857601"));
    EXPECT_THAT(blueprint.image.volumes, ElementsAre(Volume{2 * one_gib, "", {{"/var", ""}}, {}},
                                                     Volume{one_gib, "", {{"/var/home", ""}}, {}},
                                                     Volume{16U << 20U, "x", {{"/data/x", ""}}, {}},
                                                     Volume{101U << 20U, "", {{"/tmp", ""}}, {}}));
    EXPECT_EQ(blueprint.image.least, DiskSizes{});
    EXPECT_THAT(blueprint.mount_points, ElementsAre("/data/x"));
    EXPECT_THAT(blueprint.warnings, ElementsAre());
}

TEST_F(CustomizationsDiskTest, swapIsAVolume) {
    EXPECT_THAT(volumes(partition("fs_type = \"swap\"\nminsize = \"1 GiB\"\nlabel = \"s\"")),
                ElementsAre(Volume{one_gib, "s", {}, {}}));
}

TEST_F(CustomizationsDiskTest, whatTheCommitHasIsCountedForTheRoot) {
    const std::string text = file_system("mountpoint = \"/usr\"\nminsize = \"4 GiB\"") +
                             file_system("mountpoint = \"/\"\nminsize = \"2 GiB\"");
    EXPECT_EQ(least(text), (DiskSizes{0, 6 * one_gib, 0, 0}));
    EXPECT_THAT(volumes(text), ElementsAre());
    EXPECT_THAT(warnings(text), ElementsAre(HasSubstr("/usr has no file system of its own")));
    EXPECT_EQ(least(file_system("mountpoint = \"/boot/firmware\"\nminsize = \"1 GiB\"")),
              (DiskSizes{0, 0, one_gib, 0}));
}

TEST_F(CustomizationsDiskTest, otherTypesBecomeExt4WithAWarning) {
    const std::string text = partition("mountpoint = \"/data\"\nfs_type = \"xfs\"");
    EXPECT_THAT(volumes(text), ElementsAre(Volume{one_gib, "", {{"/data", ""}}, {}}));
    EXPECT_THAT(warnings(text), ElementsAre(HasSubstr("/data becomes ext4, not xfs")));
    EXPECT_THAT(warnings(partition("mountpoint = \"/\"\nfs_type = \"xfs\"")),
                ElementsAre(HasSubstr("/ becomes ext4, not xfs")));
    EXPECT_THAT(warnings(text)[0],
                AllOf(HasSubstr("b.toml:4:11: "), HasSubstr("written without mounting them"),
                      HasSubstr("devices mount it as ext4, which has no project quotas")));
    expect_mistake(partition("mountpoint = \"/data\"\nfs_type = \"ex4\""),
                   "4:11: \"ex4\" is no type of file system\nhint: ext4, xfs");
    for (const char* key : {"mountopts", "fs_options", "fs_mntopts"}) {
        expect_mistake(
            partition(std::string("mountpoint = \"/d\"\nfs_type = \"xfs\"\n") + key + " = \"x\""),
            std::string("5:1: unknown key \"customizations.disk.partitions.") + key);
    }
}

std::string logical_volume(const std::string& lines) {
    return "[[customizations.disk.partitions.logical_volumes]]\n" + lines + "\n";
}

TEST_F(CustomizationsDiskTest, logicalVolumesBecomePartitions) {
    const std::string text =
        partition("type = \"lvm\"\nname = \"vg\"\nminsize = \"8 GiB\"\npart_uuid = \"x\"") +
        logical_volume(
            "name = \"a\"\nminsize = \"2 GiB\"\nmountpoint = \"/var\"\n"
            "fs_type = \"ext4\"") +
        logical_volume("name = \"b\"\nminsize = \"5 GiB\"\nmountpoint = \"/\"") +
        logical_volume("fs_type = \"swap\"");
    EXPECT_THAT(volumes(text), ElementsAre(Volume{2 * one_gib, "", {{"/var", ""}}, {}},
                                           Volume{one_gib, "", {}, {}}));
    EXPECT_EQ(least(text), (DiskSizes{0, 5 * one_gib, 0, 0}));
    EXPECT_THAT(warnings(text), ElementsAre(HasSubstr("part_uuid has no effect"),
                                            HasSubstr("b.toml:3:8: no volume group vg is made")));
}

TEST_F(CustomizationsDiskTest, aVolumeGroupHasWhatIsLeft) {
    const std::string root = logical_volume("minsize = \"5 GiB\"\nmountpoint = \"/\"");
    const auto group = [](const std::string& lines) {
        return partition("type = \"lvm\"\n" + lines);
    };
    const std::string text = group("name = \"site\"\nminsize = \"9 GiB\"") + root;
    EXPECT_THAT(volumes(text), ElementsAre(Volume{4 * one_gib, "", {}, "site"}));
    EXPECT_THAT(warnings(text),
                ElementsAre(HasSubstr("b.toml:3:8: the volume group site has no logical volumes "
                                      "at first: each of them becomes a partition, and the group "
                                      "gets 4096 MiB")));
    EXPECT_THAT(volumes(group("minsize = 10000000001")),
                ElementsAre(Volume{9536ULL << 20U, "", {}, "vg00"}));
    EXPECT_THAT(warnings(group("minsize = 10000000001")), ElementsAre());
    EXPECT_THAT(volumes(group("minsize = \"4 GiB\"") + root), ElementsAre());
    EXPECT_THAT(volumes(group("") + root), ElementsAre());
    expect_mistake(group("name = \"../x\"\nminsize = \"9 GiB\""),
                   "4:8: \"../x\" cannot be the name of a volume group");
    expect_mistake(group("minsize = \"9 GiB\"") + group("minsize = \"9 GiB\""),
                   "5:1: duplicate volume group vg00");
}

TEST_F(CustomizationsDiskTest, subvolumesAreDirectoriesOfOneFileSystem) {
    const auto subvolume = [](const std::string& name, const std::string& point) {
        return "[[customizations.disk.partitions.subvolumes]]\nname = \"" + name +
               "\"\nmountpoint = \"" + point + "\"\n";
    };
    const std::string text = partition("type = \"btrfs\"\nminsize = \"10 GiB\"") +
                             subvolume("h", "/home") + subvolume("u", "/usr") +
                             subvolume("f", "/foo");
    EXPECT_THAT(volumes(text),
                ElementsAre(Volume{10 * one_gib, "", {{"/var/home", "h"}, {"/foo", "f"}}, {}}));
    EXPECT_THAT(warnings(text), ElementsAre(HasSubstr("it becomes ext4, not btrfs"),
                                            HasSubstr("/usr has no file system of its own")));
    EXPECT_EQ(least(partition("type = \"btrfs\"\nminsize = \"10 GiB\"") + subvolume("r", "/")),
              (DiskSizes{0, 10 * one_gib, 0, 0}));
    expect_mistake(partition("type = \"btrfs\"") + subvolume("../x", "/foo"),
                   "5:8: \"../x\" cannot be the name of a directory");
    expect_mistake(
        partition("type = \"btrfs\"") + subvolume("h", "/home") + subvolume("v", "/var/home"),
        "9:14: duplicate file system /var/home");
    EXPECT_EQ(least(partition("type = \"btrfs\"\nminsize = \"10 GiB\"") + subvolume("u", "/usr")),
              (DiskSizes{0, 10 * one_gib, 0, 0}))
        << "a size is never lost";
    expect_mistake(partition("type = \"btrfs\""), "2:1: a partition without mountpoint has no use");
    expect_mistake(partition("type = \"btrfs\"") + subvolume("h", "/home") + subvolume("h", "/foo"),
                   "8:8: duplicate subvolume h");
}

TEST_F(CustomizationsDiskTest, whatNoDeviceCanMountIsRefused) {
    for (const auto& [point, reason] : {std::pair{"/dev", "it is the kernel's"},
                                        {"/run/x", "it is in memory"},
                                        {"/sysroot", "it belongs to ostree"},
                                        {"/lib64", "it is a link into /usr"},
                                        {"/var/run", "it is a link to /run"}}) {
        expect_mistake(file_system(std::string("mountpoint = \"") + point + '"'),
                       std::string("3:14: ") + point + " cannot be a mount point: " + reason);
    }
    for (const char* point :
         {"var", "/var/", "//var", "/var/../etc", "/a b", "/a\"b", "/./a", ""}) {
        const std::string said =
            failure_of(file_system(std::string("mountpoint = '") + point + "'"));
        EXPECT_NE(said.find("mount"), std::string::npos) << point << said;
    }
    EXPECT_THAT(volumes(file_system("mountpoint = \"/media/usb\"")),
                ElementsAre(Volume{one_gib, "", {{"/run/media/usb", ""}}, {}}));
}

TEST_F(CustomizationsDiskTest, everythingElseIsRefused) {
    expect_mistake(file_system("minsize = 1"),
                   "2:1: \"customizations.filesystem.mountpoint\" is missing");
    expect_mistake(file_system("mountpoint = \"/\"\nminsize = \"1 GiB\"\nsize = 3"),
                   "5:8: \"minsize\" and \"size\" are the same");
    expect_mistake(file_system("mountpoint = \"/\"\nminsize = \"much\""),
                   "4:11: \"customizations.filesystem.minsize\" must be a size, not \"much\"");
    expect_mistake(file_system("mountpoint = \"/var\"") + file_system("mountpoint = \"/var\""),
                   "5:14: duplicate file system /var");
    expect_mistake(partition("fs_type = \"swap\"") + partition("fs_type = \"swap\""),
                   "5:11: a disk image has one swap partition, not two");
    expect_mistake(partition("fs_type = \"ext4\""),
                   "2:1: a partition without mountpoint has no use");
    expect_mistake(partition("mountpoint = \"/boot/efi\"\nfs_type = \"ext4\""),
                   "4:11: the file system /boot/efi of a disk image is vfat");
    expect_mistake(partition("mountpoint = \"/d\"\nfs_type = \"vfat\""),
                   "4:11: the file system /d of a disk image is ext4");
    expect_mistake(partition("mountpoint = \"/d\"\nlabel = \"a label that is long\""),
                   "4:9: \"a label that is long\" cannot be a label");
    expect_mistake(partition("type = \"zfs\""),
                   "3:8: a disk image has no partition of type \"zfs\"\nhint: plain, lvm or btrfs");
    expect_mistake("[customizations.disk]\ntype = \"dos\"\n",
                   "3:8: the partition table of a disk image is gpt");
    expect_mistake("[customizations.disk]\nminsize = 1\n" + file_system("mountpoint = \"/\""),
                   "2:1: give either customizations.filesystem or customizations.disk");
    expect_mistake("[customizations]\npartitioning_mode = \"lvm\"\n",
                   "3:21: a disk image has plain partitions, not \"lvm\"");
}

}  // namespace
}  // namespace edgegpu
