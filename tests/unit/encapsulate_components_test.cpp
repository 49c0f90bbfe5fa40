#include "encapsulate/components.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edgegpu {
namespace {

ContainerTree tree_of(const std::map<std::string, std::vector<std::string>>& objects,
                      std::uint64_t size = 10) {
    ContainerTree tree;
    for (const auto& [checksum, paths] : objects) {
        tree.objects[checksum] = {false, size, paths};
    }
    return tree;
}

std::map<std::string, std::vector<std::string>> objects_of_each(
    const std::map<std::string, Component>& components) {
    std::map<std::string, std::vector<std::string>> objects;
    for (const auto& [name, component] : components) {
        objects[name] = component.objects;
    }
    return objects;
}

using ObjectNames = std::map<std::string, std::vector<std::string>>;

const FileOwners& some_packages() {
    static const FileOwners packages(std::unordered_map<std::string, std::string>{
        {"/etc/ssh/sshd_config", "openssh"},
        {"/bin/sh", "bash"},
        {"/usr/sbin/sshd", "openssh"},
        {"/boot/efi/shim", "shim"},
        {"/usr/share/licenses/a", "zlib"},
        {"/usr/share/licenses/b", "bash"},
        {"/usr/odd,name", "odd,source"},
    });
    return packages;
}

TEST(Components, PathsOfACommitAreThoseOfPackages) {
    EXPECT_EQ(some_packages().owner("/usr/etc/ssh/sshd_config"), "openssh");
    EXPECT_EQ(some_packages().owner("/usr/bin/sh"), "bash");
    EXPECT_EQ(some_packages().owner("/usr/bin/sshd"), "openssh");
    EXPECT_EQ(some_packages().owner("/usr/lib/ostree-boot/efi/shim"), "shim");
    EXPECT_EQ(some_packages().owner("/usr/bin/none"), "");
    EXPECT_EQ(FileOwners().owner("/usr/bin/sh"), "");
}

TEST(Components, EachObjectIsInExactlyOne) {
    const ContainerTree tree = tree_of({
        {"01", {"/usr/bin/sh"}},
        {"02", {"/usr/share/licenses/a", "/usr/share/licenses/b", "/usr/share/own"}},
        {"03", {"/usr/lib/own", "/usr/share/licenses/a"}},
        {"04", {"/usr/lib/modules/6.1/initramfs.img"}},
        {"05", {"/usr/share/rpm/rpmdb.sqlite"}},
        {"06", {"/usr/etc/selinux/targeted/policy/policy.33"}},
        {"07", {"/usr/share/containers/storage/overlay/0123456789abcdef0123/diff/x"}},
        {"08", {"/usr/share/containers/storage/overlay/l"}},
        {"09", {"/usr/lib/small"}},
        {"10", {"/usr/odd,name"}},
    });
    EXPECT_EQ(objects_of_each(divide(tree, some_packages())),
              (ObjectNames{{"bash", {"01", "02"}},
                           {"zlib", {"03"}},
                           {"initramfs", {"04"}},
                           {"rpmdb", {"05"}},
                           {"selinux-policy", {"06"}},
                           {"container-layer:0123456789abcdef", {"07"}},
                           {"container-layer:l", {"08"}},
                           {"unpackaged", {"09"}},
                           {"odd_source", {"10"}}}));
}

TEST(Components, LargeFilesOfNobodyAreByThemselves) {
    const ContainerTree tree = tree_of({{"01", {"/usr/lib/udev/hwdb.bin"}}}, 1U << 20U);
    const auto components = divide(tree, some_packages());
    ASSERT_EQ(components.size(), 1U);
    EXPECT_EQ(components.begin()->first, "/usr/lib/udev/hwdb.bin");
    EXPECT_EQ(components.begin()->second.size, 1U << 20U);
}

TEST(Components, WithoutPackagesDirectoriesTakeTheirPlace) {
    const ContainerTree tree = tree_of({{"01", {"/usr/bin/sh"}},
                                        {"02", {"/usr/lib/modules/6.1/a"}},
                                        {"03", {"/usr/lib/modules/6.1/initramfs.img"}},
                                        {"04", {"/bin"}},
                                        {"05", {"/usr/lib/modules/6.2/kernel/b"}}});
    EXPECT_EQ(objects_of_each(divide(tree, FileOwners())),
              (ObjectNames{{"/usr/bin", {"01"}},
                           {"/usr/lib/modules", {"02", "05"}},
                           {"initramfs", {"03"}},
                           {"/", {"04"}}}));
}

}  // namespace
}  // namespace edgegpu
