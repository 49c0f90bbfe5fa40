#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;

const std::string elf64 =
    "\x7f"
    "ELF\x02";
const std::string elf32 =
    "\x7f"
    "ELF\x01";

TEST(GpuHealthLibrary, IsWhatItsLinkLeadsTo) {
    const MachineTree tree;
    tree.write("root/usr/lib64/libcuda.so.580.159.04", elf64);
    tree.link("root/usr/lib64/libcuda.so.1", "libcuda.so.580.159.04");
    // As Debian has it: alternatives with absolute links.
    tree.write("root/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.535.261.03", elf64);
    tree.link("root/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1",
              "libnvidia-ml.so.535.261.03");
    tree.link("root/etc/alternatives/ml",
              "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.1");
    tree.link("root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "/etc/alternatives/ml");
    EXPECT_THAT(
        tree.observed(Step::library).libraries,
        ElementsAre(Library{"libnvidia-ml.so.1",
                            "/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.535.261.03",
                            "535.261.03"},
                    Library{"libcuda.so.1", "/usr/lib64/libcuda.so.580.159.04", "580.159.04"}));
}

TEST(GpuHealthLibrary, IsNotOneOf32BitsNorADanglingLink) {
    const MachineTree tree;
    tree.write("root/usr/lib/libcuda.so.1", elf32);
    tree.link("root/usr/lib64/libnvidia-ml.so.1", "libnvidia-ml.so.580.159.04");
    EXPECT_THAT(tree.observed(Step::library).libraries,
                ElementsAre(Library{"libnvidia-ml.so.1", "", ""}, Library{"libcuda.so.1", "", ""}));
}

TEST(GpuHealthLibrary, IsFoundFirstWhereTheDeviceSays) {
    const MachineTree tree;
    tree.write("root/usr/lib64/libcuda.so.1", elf64);
    tree.write("root/opt/gpu/libcuda.so.1.2", elf64);
    tree.link("root/opt/gpu/libcuda.so.1", "libcuda.so.1.2");
    tree.write("root/etc/ld.so.conf.d/gpu.conf", "# x\n relative\n\n/none\n /opt/gpu # here\n");
    tree.write("root/etc/ld.so.conf.d/gpu.conf.old", "/old\n");
    const Facts facts = tree.observed(Step::library);
    EXPECT_EQ(facts.libraries.at(1), (Library{"libcuda.so.1", "/opt/gpu/libcuda.so.1.2", "1.2"}));
}

TEST(GpuHealthFirmware, IsThatOfTheImageAndOfTheVersion) {
    const MachineTree tree;
    const std::string place = "/usr/lib/firmware/nvidia/580.159.04/";
    tree.write("root" + place + "gsp_ga10x.bin", "12345");
    tree.write("root" + place + "gsp_tu10x.bin.xz", "123");
    tree.directory("root" + place + "directory");
    tree.write("root/usr/lib/firmware/nvidia/570.1/gsp_ga10x.bin", "1");
    tree.write("root/opt/firmware/nvidia/580.159.04/extra.bin", "12");
    tree.write("sys/module/firmware_class/parameters/path", "/opt/firmware\n");
    Facts facts;
    facts.stack.emplace();
    facts.stack->driver = "580.159.04";
    facts.stack->firmware = {place + "gsp_ga10x.bin", place + "gsp_tu10x.bin", place + "gone.bin"};
    facts.driver.version = "../570.1";
    EXPECT_THAT(tree.observed(Step::firmware, facts).firmware,
                ElementsAre(FirmwareFile{place + "gsp_ga10x.bin", true, 5},
                            FirmwareFile{place + "gsp_tu10x.bin", true, 3},
                            FirmwareFile{place + "gone.bin", false, 0},
                            FirmwareFile{"/opt/firmware/nvidia/580.159.04/extra.bin", true, 2},
                            FirmwareFile{place + "directory", false, 0},
                            FirmwareFile{place + "gsp_tu10x.bin.xz", true, 3}));
}

}  // namespace
}  // namespace edgegpu::gpu_health
