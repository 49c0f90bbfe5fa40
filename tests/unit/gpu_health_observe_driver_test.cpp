#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;

TEST(GpuHealthDriver, HasRivalsAndCompanions) {
    const MachineTree tree;
    for (const char* name :
         {"nouveau", "nova_core", "novatel", "nvidia", "nvidia_uvm", "nvidiafb"}) {
        tree.directory(std::string("sys/module/") + name);
    }
    const LoadedDriver driver = tree.observed(Step::binding).driver;
    EXPECT_THAT(driver.rivals, ElementsAre("nouveau", "nova_core"));
    EXPECT_THAT(driver.companions, ElementsAre("nvidia_uvm"));
}

TEST(GpuHealthDriver, SaysWhatItIs) {
    const MachineTree tree;
    EXPECT_FALSE(tree.observed(Step::version).driver.loaded);
    tree.write("sys/module/nvidia/version", "580.159.04\n");
    tree.write(
        "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
        "(builder)  Tue Apr  7 07:29:14 UTC 2026\nGCC version:  gcc version 12.2.0\n");
    tree.write("proc/driver/nvidia/gpus/0000:65:00.0/information",
               "Model: \t\t NVIDIA H200\nIRQ:   \t\t 151\n"
               "GPU UUID: \t GPU-0a1b2c3d-0000-1111-2222-333344445555\n"
               "Video BIOS: \t 96.00.a0.00.01\nBus Type: \t PCIe\nDMA Size: \t 52 bits\n"
               "Bus Location: \t 0000:65:00.0\nDevice Minor: \t 3\nGPU Firmware: \t 580.159.04\n"
               "GPU Excluded:\t No\n");
    tree.write("proc/driver/nvidia/gpus/0000:66:00.0/information",
               "Model:\nDevice Minor: x\nno colon\n:\nGPU Excluded:\t Yes");
    tree.directory("proc/driver/nvidia/gpus/0000:67:00.0");
    const Facts facts = tree.observed(Step::version);
    EXPECT_TRUE(facts.driver.loaded);
    EXPECT_EQ(facts.driver.version, "580.159.04");
    EXPECT_THAT(facts.driver.nvrm, testing::StartsWith("NVRM version: NVIDIA UNIX Open"));
    EXPECT_THAT(facts.proc_gpus,
                ElementsAre(ProcGpu{"0000:65:00.0", "NVIDIA H200", 3, "580.159.04", false},
                            ProcGpu{"0000:66:00.0", "", -1, "", true},
                            ProcGpu{"0000:67:00.0", "", -1, "", false}));
}

}  // namespace
}  // namespace edgegpu::gpu_health
