#include <sys/mount.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;

std::vector<std::string> paths_of(const Facts& facts) {
    std::vector<std::string> paths;
    for (const DeviceNode& node : facts.nodes) {
        paths.push_back(node.path);
    }
    return paths;
}

constexpr const char* devices =
    "Character devices:\n  1 mem\n195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n508 nvidia-uvm\n"
    "\nBlock devices:\n  8 sd\n509 nvidia-uvm\n";

TEST(GpuHealthNodes, AreThoseThatTheDriverHas) {
    const MachineTree tree;
    tree.write("proc/devices", devices);
    Facts facts;
    facts.proc_gpus = {{"0000:65:00.0", "", 2, "", false},
                       {"0000:66:00.0", "", 3, "", true},
                       {"0000:67:00.0", "", -1, "", false}};
    facts = tree.observed(Step::nodes, facts);
    EXPECT_THAT(paths_of(facts), ElementsAre("/dev/nvidiactl", "/dev/nvidia-uvm",
                                             "/dev/nvidia-uvm-tools", "/dev/nvidia2"));
    EXPECT_EQ(facts.nodes[1].expected_major, 508);
    EXPECT_EQ(facts.nodes[3].expected_major, 195);
    EXPECT_EQ(facts.nodes[3].expected_minor, 2);
    EXPECT_FALSE(facts.nodes[3].exists);
    EXPECT_EQ(facts.nodes[3].open_error, "-");
    EXPECT_FALSE(facts.selinux);
}

TEST(GpuHealthNodes, AreFoundIfTheDriverDoesNotSay) {
    const MachineTree tree;
    tree.write("dev/nvidia0", "");
    tree.write("dev/nvidia", "");
    tree.write("dev/nvidia-caps", "");
    tree.write("dev/nvidia1x", "");
    tree.write("sys/fs/selinux/enforce", "1");
    const Facts facts = tree.observed(Step::nodes);
    EXPECT_THAT(paths_of(facts), ElementsAre("/dev/nvidiactl", "/dev/nvidia-uvm",
                                             "/dev/nvidia-uvm-tools", "/dev/nvidia0"));
    EXPECT_TRUE(facts.selinux);
    EXPECT_EQ(facts.nodes[3].expected_major, -1);
}

TEST(GpuHealthNodes, ThatAreNoDevicesAreNotOpened) {
    const MachineTree tree;
    tree.write("proc/devices", devices);
    tree.write("dev/nvidiactl", "file");
    ::chmod(tree.at("dev/nvidiactl").c_str(), 0640);
    tree.link("dev/nvidia-uvm", "/dev/null");
    ASSERT_EQ(::mkfifo(tree.at("dev/nvidia-uvm-tools").c_str(), 0600), 0);
    const Facts facts = tree.observed(Step::nodes);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(facts.nodes[i].exists);
        EXPECT_FALSE(facts.nodes[i].is_character_device);
        EXPECT_EQ(facts.nodes[i].open_error, "-");
    }
    EXPECT_EQ(facts.nodes[0].mode, 0640U);
}

/// The machine's own devices: "mem" stands in for the driver.
TEST(GpuHealthNodes, AreOpenedIfTheirNumberIsTheDrivers) {
    Places places;
    const MachineTree tree;
    tree.write("proc/devices", "Character devices:\n  1 nvidia\n");
    places.proc = tree.places().proc;
    places.sys = tree.places().sys;
    places.dev = tree.places().dev;
    // Root of a user namespace makes no devices, and may show one in another place.
    tree.write("dev/nvidia3", "");
    const std::string path = tree.at("dev/nvidia3");
    ASSERT_EQ(::mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr), 0);
    Facts facts;
    observe(Step::nodes, places, {}, facts);
    const DeviceNode& node = facts.nodes.at(3);
    EXPECT_TRUE(node.is_character_device);
    EXPECT_EQ(node.major, 1U);
    EXPECT_EQ(node.minor, 3U);
    EXPECT_NE(node.open_error, "-");
    tree.write("proc/devices", "Character devices:\n195 nvidia\n");
    observe(Step::nodes, places, {}, facts);
    EXPECT_EQ(facts.nodes.at(3).open_error, "-");
    EXPECT_EQ(::umount2(path.c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace edgegpu::gpu_health
