#include "gpu_health/observe/observe.hpp"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;

const std::string booted(64, 'c');

Facts machine(const MachineTree& tree) {
    Facts facts;
    observe_machine(tree.places(), facts);
    return facts;
}

void deploy(const MachineTree& tree, const std::string& top) {
    tree.write("proc/cmdline", "root=UUID=x ostree=/ostree/boot.1/debian/" + std::string(64, 'b') +
                                   "/0 rw quiet\n");
    tree.link(top + "ostree/boot.1", "boot.1.1");
    tree.link(top + "ostree/boot.1.1/debian/" + std::string(64, 'b') + "/0",
              "../../../deploy/debian/deploy/" + booted + ".0");
}

TEST(GpuHealthMachine, KnowsTheBootedCommit) {
    const MachineTree tree;
    deploy(tree, "root/sysroot/");
    tree.link("root/ostree", "sysroot/ostree");
    EXPECT_EQ(machine(tree).commit, booted);
}

TEST(GpuHealthMachine, KnowsTheBootedCommitWithoutTheLinkOfTheImage) {
    const MachineTree tree;
    deploy(tree, "root/sysroot/");
    EXPECT_EQ(machine(tree).commit, booted);
}

TEST(GpuHealthMachine, HasNoCommitWithoutOstree) {
    const MachineTree tree;
    EXPECT_EQ(machine(tree), Facts{});
    // A container sees the kernel's argument, not the deployment.
    tree.write("proc/cmdline", "ostree=/ostree/boot.1/debian/x/0\n");
    EXPECT_EQ(machine(tree).commit, "");
    tree.link("root/ostree/boot.1/debian/x/0", "../../../deploy/debian/deploy/nonsense.0");
    EXPECT_EQ(machine(tree).commit, "");
    tree.write("proc/cmdline", "ostree= ostree=/ ostree=/../../.. ostree");
    EXPECT_EQ(machine(tree).commit, "");
}

TEST(GpuHealthMachine, IsDescribedByProc) {
    const MachineTree tree;
    tree.write("proc/sys/kernel/random/boot_id", "0f6a3c9e-2b1d-4f0e-9a51-3c1b7d2e4f60\n");
    tree.write("proc/sys/kernel/osrelease", "6.1.0-47-amd64\n");
    tree.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor\n\n");
    const Facts facts = machine(tree);
    EXPECT_EQ(facts.boot_id, "0f6a3c9e-2b1d-4f0e-9a51-3c1b7d2e4f60");
    EXPECT_EQ(facts.kernel, "6.1.0-47-amd64");
    EXPECT_TRUE(facts.virtual_machine);
    tree.write("proc/cpuinfo", "flags\t\t: fpu hypervisor_other vme\n");
    EXPECT_FALSE(machine(tree).virtual_machine);
}

TEST(GpuHealthMachine, SaysWhyTheStackOfTheImageIsNotKnown) {
    const MachineTree tree;
    EXPECT_FALSE(machine(tree).stack);
    EXPECT_EQ(machine(tree).stack_error, "");
    tree.write("root/usr/lib/edgegpu/gpu-stack.json", R"({"driver": "580.159.04"})");
    ASSERT_TRUE(machine(tree).stack);
    EXPECT_EQ(machine(tree).stack->driver, "580.159.04");
    tree.write("root/usr/lib/edgegpu/gpu-stack.json", R"({"driver": "580.1)");
    EXPECT_FALSE(machine(tree).stack);
    EXPECT_EQ(machine(tree).stack_error, "it is no JSON");
    std::filesystem::remove(tree.at("root/usr/lib/edgegpu/gpu-stack.json"));
    tree.directory("root/usr/lib/edgegpu/gpu-stack.json");
    EXPECT_EQ(machine(tree).stack_error, "Is a directory");
}

/// Whatever is missing, each step ends with what is known.
TEST(GpuHealthMachine, CanBeEmpty) {
    const MachineTree tree;
    for (const Step step : all_steps) {
        if (step != Step::kernel_log) {
            EXPECT_NO_THROW(static_cast<void>(tree.observed(step))) << name_of(step);
        }
    }
    const Facts facts = tree.observed(Step::module);
    EXPECT_EQ(facts.module, ModuleFile{});
    EXPECT_EQ(facts.trust, ModuleTrust{});
}

/// This machine, whatever it is: nothing throws but what says so.
TEST(GpuHealthMachine, CanBeThisOne) {
    Facts facts;
    observe_machine({}, facts);
    EXPECT_NE(facts.kernel, "");
    for (const Step step : all_steps) {
        try {
            observe(step, {}, {}, facts);
        } catch (const std::runtime_error& error) {
            EXPECT_TRUE(step == Step::kernel_log || step == Step::presence) << error.what();
        }
    }
    EXPECT_EQ(read_facts(facts_json(facts)), facts);
}

}  // namespace
}  // namespace edgegpu::gpu_health
