#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu_health_machine_tree.hpp"

namespace edgegpu::gpu_health {
namespace {

using test::MachineTree;
using testing::ElementsAre;
using testing::IsEmpty;

/// The header of an H200's configuration space: vendor, device, three BARs of 64 bits.
std::string space(std::size_t size = 64) {
    std::string bytes(256, '\0');
    bytes.replace(0, 4, "\xde\x10\x35\x23");
    for (const std::size_t bar : {0x10, 0x18, 0x20}) {
        bytes[bar] = '\x0c';
    }
    return bytes.substr(0, size);
}

std::string resource(const std::string& first) {
    const std::string none = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    return first + none + "0x0000200000000000 0x0000203fffffffff 0x000000000014220c\n" + none +
           "0x0000204000000000 0x0000204001ffffff 0x000000000014220c\n" + none + none;
}

void add_function(const MachineTree& tree, const std::string& address) {
    const std::string device = "sys/devices/pci0000:64/0000:64:00.0/" + address + "/";
    tree.link("sys/bus/pci/devices/" + address,
              "../../../devices/pci0000:64/0000:64:00.0/" + address);
    tree.write(device + "vendor", "0x10de\n");
    tree.write(device + "device", "0x2335\n");
    tree.write(device + "class", "0x030200\n");
    tree.write(device + "config", space());
    tree.write(device + "driver_override", "(null)\n");
    tree.write(device + "current_link_width", "8\n");
    tree.write(device + "max_link_width", "16\n");
    tree.write(device + "max_link_speed", "32.0 GT/s PCIe\n");
    tree.write(device + "resource",
               resource("0x0000204002000000 0x0000204002ffffff 0x000000000014220c\n"));
    tree.link(device + "driver", "../../../../bus/pci/drivers/nvidia");
}

class GpuHealthPresence : public testing::Test {
protected:
    GpuHealthPresence() { add_function(tree_, "0000:65:00.0"); }
    void change(const std::string& name, const std::string& content) {
        tree_.write("sys/bus/pci/devices/0000:65:00.0/" + name, content);
    }
    PciFunction seen() {
        const Facts facts = tree_.observed(Step::presence);
        EXPECT_EQ(facts.functions.size(), 1U);
        return facts.functions.at(0);
    }
    MachineTree tree_;
};

TEST_F(GpuHealthPresence, OfAGpu) {
    PciFunction expected;
    expected.address = "0000:65:00.0";
    expected.id = "10de:2335";
    expected.device_class = "0x030200";
    expected.driver = "nvidia";
    expected.link_width = 8;
    expected.max_link_width = 16;
    expected.max_link_generation = 5;
    EXPECT_EQ(seen(), expected);
}

TEST_F(GpuHealthPresence, IsForGpusOfNvidiaOnly) {
    add_function(tree_, "0000:66:00.0");
    tree_.write("sys/bus/pci/devices/0000:66:00.0/class", "0x040300\n");
    add_function(tree_, "0000:67:00.0");
    tree_.write("sys/bus/pci/devices/0000:67:00.0/vendor", "0x1002\n");
    // Links that lead nowhere, and directories that are empty.
    tree_.link("sys/bus/pci/devices/0000:68:00.0", "../nowhere");
    tree_.directory("sys/bus/pci/devices/0000:69:00.0");
    EXPECT_EQ(seen().address, "0000:65:00.0");
}

TEST_F(GpuHealthPresence, OfOneThatHasFallenOffTheBus) {
    change("config", std::string(64, '\xff'));
    EXPECT_TRUE(seen().silent);
    EXPECT_EQ(seen().id, "10de:2335");
    change("config", "\xde\x10");
    EXPECT_TRUE(seen().silent);
    change("config", space());
    EXPECT_FALSE(seen().silent);
    change("vendor", "0xffff\n");
    change("device", "0xffff\n");
    change("class", "0xffffff\n");
    EXPECT_TRUE(seen().silent);
    EXPECT_EQ(seen().id, "ffff:ffff");
}

TEST_F(GpuHealthPresence, OfAVirtualFunctionHasAllOnesAsItsVendor) {
    tree_.link("sys/bus/pci/devices/0000:65:00.0/physfn", "../0000:65:00.4");
    change("config", std::string(4, '\xff') + space().substr(4));
    EXPECT_TRUE(seen().virtual_function);
    EXPECT_FALSE(seen().silent);
    change("config", std::string(64, '\xff'));
    EXPECT_TRUE(seen().silent);
}

TEST_F(GpuHealthPresence, FindsBarsWithoutAnAddress) {
    EXPECT_THAT(seen().unassigned_bars, IsEmpty());
    change("resource", resource("0x0000000000000000 0x0000000000ffffff 0x000000000014220c\n"));
    EXPECT_THAT(seen().unassigned_bars, ElementsAre(0));
    // The kernel forgets one that it has no room for.
    change("resource", resource("0x0000000000000000 0x0000000000000000 0x0000000000000000\n"));
    EXPECT_THAT(seen().unassigned_bars, ElementsAre(0));
    for (const char* damaged : {"", "\n\n", "0x 0x 0x\n", "a b c", "0x0 0x0"}) {
        change("resource", damaged);
        EXPECT_THAT(seen().unassigned_bars, IsEmpty()) << damaged;
    }
}

TEST_F(GpuHealthPresence, TakesWhatTheKernelDoesNotKnowAsUnknown) {
    for (const auto& [text, generation] :
         {std::pair("2.5 GT/s PCIe", 1U), std::pair("8 GT/s", 3U), std::pair("64.0 GT/s PCIe", 6U),
          std::pair("Unknown", 0U), std::pair("", 0U), std::pair("16", 4U)}) {
        change("max_link_speed", text);
        EXPECT_EQ(seen().max_link_generation, generation) << text;
    }
    change("max_link_width", "255\n");
    change("current_link_width", "-1\n");
    EXPECT_EQ(seen().max_link_width, 0U);
    EXPECT_EQ(seen().link_width, 0U);
    change("driver_override", "vfio-pci\n");
    EXPECT_EQ(seen().driver_override, "vfio-pci");
}

TEST(GpuHealthPresenceWithout, SysfsIsNotKnown) {
    const MachineTree tree;
    EXPECT_THAT(tree.observed(Step::presence).functions, IsEmpty());
    std::filesystem::remove_all(tree.places().sys / "bus");
    EXPECT_THROW(static_cast<void>(tree.observed(Step::presence)), std::runtime_error);
}

TEST_F(GpuHealthPresence, OfABusThatCannotBeListedNothingIsKnown) {
    const MachineTree tree;
    std::filesystem::remove(tree.at("sys/bus/pci/devices"));
    EXPECT_THAT(tree.observed(Step::presence).functions, IsEmpty()) << "no PCI bus";
    tree.link("sys/bus/pci/devices", "devices");
    EXPECT_THROW(static_cast<void>(tree.observed(Step::presence)), std::runtime_error);
    std::filesystem::remove(tree.at("sys/bus/pci/devices"));
    tree.write("sys/bus/pci/devices", "");
    EXPECT_THROW(static_cast<void>(tree.observed(Step::presence)), std::runtime_error);
    std::filesystem::remove(tree.at("sys/bus/pci/devices"));
    tree.link("sys/bus/pci/devices/0000:65:00.0", "0000:65:00.0");
    EXPECT_THROW(static_cast<void>(tree.observed(Step::presence)), std::runtime_error);
}

}  // namespace
}  // namespace edgegpu::gpu_health
