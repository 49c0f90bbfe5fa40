#include "unit/blueprint_testing.hpp"

namespace edgegpu {
namespace {

class CustomizationsDiskTest : public BlueprintTest {
protected:
    [[nodiscard]] DiskSizes least(const std::string& text) const {
        return parse("distro = \"lab-12\"\n" + text).image.least;
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
    const Blueprint blueprint =
        parse("distro = \"lab-12\"\n" + partition("mountpoint = \"/\"\nlabel = \"data\""));
    ASSERT_EQ(blueprint.warnings.size(), 1U);
    EXPECT_NE(blueprint.warnings[0].find("b.toml:4:9: customizations.disk.partitions.label has no "
                                         "effect"),
              std::string::npos)
        << blueprint.warnings[0];
}

TEST_F(CustomizationsDiskTest, everythingElseIsRefused) {
    expect_mistake(file_system("mountpoint = \"/var\"\nminsize = 1"),
                   "3:14: a disk image has no file system for /var\nhint: the file systems of a "
                   "disk image are /, /boot and /boot/efi");
    expect_mistake(file_system("minsize = 1"),
                   "2:1: \"customizations.filesystem.mountpoint\" is missing");
    expect_mistake(file_system("mountpoint = \"/\"\nminsize = \"1 GiB\"\nsize = 3"),
                   "5:8: \"minsize\" and \"size\" are the same");
    expect_mistake(file_system("mountpoint = \"/\"\nminsize = \"much\""),
                   "4:11: \"customizations.filesystem.minsize\" must be a size, not \"much\"");
    expect_mistake(file_system("mountpoint = \"/\"") + file_system("mountpoint = \"/\""),
                   "5:14: duplicate file system /");
    expect_mistake(
        partition("type = \"lvm\"\nname = \"vg\"\nlogical_volumes = []"),
        "3:8: a disk image has no partition of type \"lvm\"\nhint: use plain partitions");
    expect_mistake(partition("type = \"btrfs\""), "3:8: a disk image has no partition of type");
    expect_mistake(partition("fs_type = \"swap\"\nminsize = \"1 GiB\""),
                   "2:1: a disk image has no partition without mountpoint, and none for swap");
    expect_mistake(
        partition("mountpoint = \"/\"\nfs_type = \"xfs\""),
        "4:11: the file system / of a disk image is ext4, not xfs\nhint: remove fs_type");
    expect_mistake("[customizations.disk]\ntype = \"dos\"\n",
                   "3:8: the partition table of a disk image is gpt");
    expect_mistake("[customizations.disk]\nminsize = 1\n" + file_system("mountpoint = \"/\""),
                   "2:1: give either customizations.filesystem or customizations.disk");
    expect_mistake("[customizations]\npartitioning_mode = \"lvm\"\n",
                   "3:21: a disk image has plain partitions, not \"lvm\"");
}

}  // namespace
}  // namespace edgegpu
