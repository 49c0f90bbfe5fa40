#include "gpu_health/observe/tree.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;

TEST(GpuHealthTree, KeepsLinksInsideTheRoot) {
    const MachineTree tree;
    const std::filesystem::path root = tree.places().root;
    tree.write("secret", "outside");
    tree.write("root/etc/inside", "inside\nsecond line\n");
    tree.link("root/absolute", "/etc/inside");
    tree.link("root/etc/up", "../../../../../etc/inside");
    tree.link("root/out", "../secret");
    tree.link("root/lib", "etc");
    EXPECT_EQ(read_line(root, "/absolute"), "inside");
    EXPECT_EQ(read_line(root, "etc/up"), "inside");
    EXPECT_EQ(read_line(root, "lib/../lib/./inside"), "inside");
    EXPECT_EQ(read_file(root, "out").error, ENOENT);
    EXPECT_EQ(read_file(root, "../secret").error, ENOENT);
    EXPECT_EQ(resolve(root, "/lib/none/x"), root / "etc/none/x");
    EXPECT_EQ(link_name(root, "absolute"), "inside");
    EXPECT_EQ(link_name(root, "etc/inside"), "");
}

TEST(GpuHealthTree, EndsWhenLinksGoInACircle) {
    const MachineTree tree;
    const std::filesystem::path root = tree.places().root;
    tree.link("root/a", "b");
    tree.link("root/b", "a");
    tree.link("root/deep", "deep/deep");
    EXPECT_TRUE(resolve(root, "a").empty());
    EXPECT_EQ(read_file(root, "a").error, ELOOP);
    EXPECT_EQ(read_file(root, "deep").error, ELOOP);
    EXPECT_FALSE(is_there(root, "a"));
    EXPECT_TRUE(names_in(root, "a").empty());
    EXPECT_EQ(link_name(root, "a/x"), "");
}

TEST(GpuHealthTree, ReadsRegularFilesOnlyAndNoMoreThanTheLimit) {
    const MachineTree tree;
    const std::filesystem::path root = tree.places().root;
    ASSERT_EQ(::mkfifo(tree.at("root/fifo").c_str(), 0600), 0);
    tree.directory("root/directory");
    tree.write("root/four", "1234");
    EXPECT_EQ(read_file(root, "fifo").error, EINVAL);
    EXPECT_EQ(read_file(root, "directory").error, EISDIR);
    EXPECT_EQ(read_file("/", "dev/zero").error, EINVAL);
    EXPECT_EQ(read_file(root, "four", 4).content, "1234");
    EXPECT_EQ(read_file(root, "four", 3).error, EFBIG);
    EXPECT_EQ(read_file(root, "four", 3).content, "");
    EXPECT_EQ(read_start(root, "four", 3).content, "123");
    EXPECT_EQ(read_start(root, "four", 0).content, "");
    // procfs says that its files are empty.
    EXPECT_NE(read_line("/proc", "self/stat"), "");
    EXPECT_THAT(names_in(root, ""), ElementsAre("directory", "fifo", "four"));
}

}  // namespace
}  // namespace edgegpu::gpu_health
