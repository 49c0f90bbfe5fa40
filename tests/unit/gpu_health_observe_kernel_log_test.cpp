#include <sys/stat.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::IsEmpty;

Facts log_of(const std::string& text, const std::vector<std::string>& addresses = {}) {
    const MachineTree tree;
    tree.write("kmsg", text);
    Facts facts;
    for (const std::string& address : addresses) {
        tree.directory("sys/devices/pci0000:64/0000:64:00.0/" + address);
        tree.link("sys/bus/pci/devices/" + address,
                  "../../../devices/pci0000:64/0000:64:00.0/" + address);
        facts.functions.emplace_back().address = address;
    }
    return tree.observed(Step::kernel_log, facts);
}

TEST(GpuHealthKernelLog, KeepsLinesOfGpusAndModules) {
    const Facts facts = log_of(
        "5,0,0,-;Linux version 6.1.0-47-amd64\n"
        "6,0,0,-;Kernel command line: quiet rd.driver.blacklist=nouveau secret=x\n"
        "6,1,10,-;usb 1-1: new device\n SUBSYSTEM=usb\n DEVICE=+usb:nvidia\n"
        "4,2,6400123,-;nvidia: loading out-of-tree module taints kernel.\n"
        "3,3,6500000,c,caller=T12;NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen\n"
        "3,4,6600000,-;Lockdown: modprobe: unsigned module loading is restricted\n"
        "3,5,6700000,-;pcieport 0000:64:00.0: AER: Uncorrected error\n"
        "3,6,6700001,-;pcieport 0000:63:00.0: AER: Uncorrected error\n"
        "3,7,6800000,-;vfio-pci 0000:65:00.0: enabling device\n",
        {"0000:65:00.0"});
    EXPECT_FALSE(facts.kernel_log_cut);
    EXPECT_THAT(
        facts.kernel_log,
        ElementsAre(
            KernelMessage{6400123, "nvidia: loading out-of-tree module taints kernel."},
            KernelMessage{6500000, "NVRM: Xid (PCI:0000:65:00): 79, pid=1, GPU has fallen"},
            KernelMessage{6600000, "Lockdown: modprobe: unsigned module loading is restricted"},
            KernelMessage{6700000, "pcieport 0000:64:00.0: AER: Uncorrected error"},
            KernelMessage{6800000, "vfio-pci 0000:65:00.0: enabling device"}));
}

TEST(GpuHealthKernelLog, UndoesEscapesAndSplitsLines) {
    EXPECT_THAT(log_of("3,0,7,-;NVRM: a\\x0aNVRM:  b\\x5cx \\xc3\\xa4 \\x \\xg1 \\x0").kernel_log,
                ElementsAre(KernelMessage{7, "NVRM: a"},
                            KernelMessage{7, "NVRM:  b\\x \xc3\xa4 \\x \\xg1 \\x0"}));
}

TEST(GpuHealthKernelLog, LeavesOutWhatProgramsWroteToIt) {
    // The facility is the number before the level: 12 is LOG_USER's, 30 LOG_DAEMON's.
    const Facts facts = log_of(
        "12,0,1,-;app: nvidia: GPU is lost\n"
        "30,1,2,-;nvidia-persistenced[1]: API mismatch: no\n"
        "7,2,3,-;NVRM: GPU is lost\n"
        "x,3,4,-;NVRM: GPU is lost\n");
    EXPECT_THAT(facts.kernel_log, ElementsAre(KernelMessage{3, "NVRM: GPU is lost"}));
    EXPECT_FALSE(facts.kernel_log_cut);
}

TEST(GpuHealthKernelLog, SaysThatItsBeginningIsGone) {
    EXPECT_TRUE(log_of("6,17,1,-;x\n6,18,1,-;x\n").kernel_log_cut);
    EXPECT_FALSE(log_of("6,0,1,-;x\n6,18,1,-;x\n").kernel_log_cut);
    EXPECT_FALSE(log_of("").kernel_log_cut);
}

TEST(GpuHealthKernelLog, IgnoresWhatIsNoRecord) {
    for (const char* line :
         {"NVRM: x", ";NVRM: x", "3,0,7;NVRM: x", "a,b,c,d;NVRM: x", "3,-1,7,-;NVRM: x",
          "3,99999999999999999999,7,-;NVRM: x", " NVRM=x", "\n\n", "3,0,7,-"}) {
        EXPECT_THAT(log_of(line).kernel_log, IsEmpty()) << line;
    }
}

TEST(GpuHealthKernelLog, KeepsTheFirstAndTheNewest) {
    std::string text;
    for (int i = 0; i < 5000; ++i) {
        text += "3," + std::to_string(i) + "," + std::to_string(i) +
                ",-;NVRM: " + std::string(2000, 'x') + "\n";
    }
    const Facts facts = log_of(text);
    ASSERT_EQ(facts.kernel_log.size(), 2200U);
    EXPECT_EQ(facts.kernel_log[199].microseconds, 199U);
    EXPECT_EQ(facts.kernel_log[200].microseconds, 3000U);
    EXPECT_EQ(facts.kernel_log[2199].microseconds, 4999U);
    EXPECT_EQ(facts.kernel_log[0].text.size(), 1000U);
}

TEST(GpuHealthKernelLog, ThatCannotBeReadIsNotKnown) {
    const MachineTree tree;
    EXPECT_THROW(static_cast<void>(tree.observed(Step::kernel_log)), std::runtime_error);
    ASSERT_EQ(::mkfifo(tree.at("kmsg").c_str(), 0600), 0);
    EXPECT_THROW(static_cast<void>(tree.observed(Step::kernel_log)), std::runtime_error);
}

TEST(GpuHealthKernelLog, EndsAtADeviceThatHasNothingToSay) {
    const MachineTree tree;
    tree.link("kmsg", "/dev/null");
    EXPECT_THAT(tree.observed(Step::kernel_log).kernel_log, IsEmpty());
}

}  // namespace
}  // namespace edgegpu::gpu_health
