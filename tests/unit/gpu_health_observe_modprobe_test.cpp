#include "gpu_health/observe/modprobe.hpp"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(GpuHealthModprobe, BlocksInEachWay) {
    const MachineTree tree;
    tree.write("root/etc/modprobe.d/a.conf", "# blacklist nvidia\n\nblacklist\tnvidia\n");
    tree.write("root/run/modprobe.d/b.conf", "install nvidia \\\n/usr/bin/false");
    tree.write("root/usr/lib/modprobe.d/c.conf", "install nvidia /bin/true\nblacklist nouveau\n");
    tree.write("proc/cmdline", "quiet module_blacklist=x,nvidia modprobe.blacklist=nouveau\n");
    EXPECT_THAT(what_blocks(tree.places(), "nvidia"),
                ElementsAre("/etc/modprobe.d/a.conf: blacklist nvidia",
                            "/run/modprobe.d/b.conf: install nvidia /usr/bin/false",
                            "/usr/lib/modprobe.d/c.conf: install nvidia /bin/true",
                            "kernel argument module_blacklist=nvidia"));
    const ModuleFile file = tree.observed(Step::module).module;
    EXPECT_TRUE(file.blocked);
    EXPECT_THAT(file.blocked_by, testing::HasSubstr("blacklist nvidia; /run/"));
}

TEST(GpuHealthModprobe, DoesNotBlockWhatOnlyLooksLikeIt) {
    const MachineTree tree;
    tree.write(
        "root/etc/modprobe.d/a.conf",
        "blacklist nvidia_drm\nblacklist nvidiafb\noptions nvidia x=blacklist\n"
        "install nvidia /sbin/modprobe --ignore-install nvidia\nblacklist\ninstall nvidia\n");
    tree.write("root/etc/modprobe.d/a.conf.bak", "blacklist nvidia\n");
    tree.write("proc/cmdline", "modprobe.blacklist= rd.driver.blacklist=nvidia\n");
    EXPECT_THAT(what_blocks(tree.places(), "nvidia"), IsEmpty());
}

TEST(GpuHealthModprobe, HidesFilesBehindThoseOfTheDevice) {
    const MachineTree tree;
    tree.write("root/usr/lib/modprobe.d/nvidia.conf", "blacklist nvidia\n");
    tree.link("root/etc/modprobe.d/nvidia.conf", "/dev/null");
    EXPECT_THAT(what_blocks(tree.places(), "nvidia"), IsEmpty());
    tree.link("root/lib", "usr/lib");
    std::filesystem::remove(tree.at("root/etc/modprobe.d/nvidia.conf"));
    EXPECT_THAT(what_blocks(tree.places(), "nvidia"),
                ElementsAre("/usr/lib/modprobe.d/nvidia.conf: blacklist nvidia"));
}

}  // namespace
}  // namespace edgegpu::gpu_health
