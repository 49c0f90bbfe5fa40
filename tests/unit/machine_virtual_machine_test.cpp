#include "machine/virtual_machine.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"

namespace edgegpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

VirtualMachine guest_with(std::initializer_list<const char*> gpus) {
    VirtualMachine machine;
    machine.name = "edge-7";
    machine.memory_mib = 8193;
    machine.cpus = 5;
    machine.disk = "/srv/edge-7.qcow2";
    machine.disk_format = "qcow2";
    for (const char* gpu : gpus) {
        machine.gpus.push_back(parse_host_gpu(gpu));
    }
    return machine;
}

std::string domain_refusal(const VirtualMachine& machine) {
    try {
        return domain_xml(machine);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        return error.render();
    }
}

TEST(VirtualMachineFiles, AddressesOfAHostsGpus) {
    const HostGpu gpu = parse_host_gpu("0000:3B:1f.7@12");
    EXPECT_EQ(gpu.address, "0000:3b:1f.7");
    EXPECT_EQ(gpu.node, 12U);
    EXPECT_FALSE(gpu.mediated);
    EXPECT_EQ(parse_host_gpu("3b:00.0").address, "0000:3b:00.0");
    EXPECT_FALSE(parse_host_gpu("3b:00.0").node);
    EXPECT_TRUE(parse_host_gpu("aa618089-8b16-4d01-a136-25a0f3c73123").mediated);
    EXPECT_EQ(parse_host_gpu("aa618089-8b16-4d01-a136-25a0f3c73123@0").node, 0U);
    for (const char* bad :
         {"", "@", "3b:00.0@", "3b:00.0@-1", "3b:00.0@1 ", "3b:00.0@1024", "3b:00.8", "3b:20.0",
          "3b:00", "0000:3b:00.00", "000:3b:00.0", "10de:2335", "gggg:3b:00.0",
          "aa618089-8b16-4d01-a136-25a0f3c7312", "aa618089-8b16-4d01-a136-25a0f3c7312g",
          "aa618089_8b16_4d01_a136_25a0f3c73123"}) {
        EXPECT_THROW((void)parse_host_gpu(bad), Error) << bad;
    }
}

TEST(VirtualMachineFiles, AnExpanderBridgeForEachNodeOfTheHost) {
    const std::string xml =
        domain_xml(guest_with({"0000:3b:00.0@3", "86:00.0@0", "0000:af:00.1@3"}));
    EXPECT_THAT(xml, HasSubstr("    <memnode cellid='0' mode='strict' nodeset='0'/>\n"
                               "    <memnode cellid='1' mode='strict' nodeset='3'/>\n"));
    EXPECT_THAT(xml, HasSubstr("<cell id='0' cpus='0-1' memory='4096' unit='MiB'/>\n"
                               "      <cell id='1' cpus='2-4' memory='4097' unit='MiB'/>\n"));
    EXPECT_THAT(xml, AllOf(HasSubstr("<target busNr='32'>\n        <node>0</node>"),
                           HasSubstr("<target busNr='144'>\n        <node>1</node>")));
    // Cards are behind the bridge of their node: buses are called by their controllers.
    EXPECT_THAT(xml, HasSubstr("<controller type='pci' index='3' model='pcie-expander-bus'>"));
    EXPECT_THAT(xml, HasSubstr("<address domain='0x0000' bus='0xaf' slot='0x00' function='0x1'/>\n"
                               "      </source>\n"
                               "      <address type='pci' domain='0x0000' bus='0x05' slot='0x00' "
                               "function='0x0'/>\n"));
    EXPECT_THAT(xml, HasSubstr("<target chassis='5' port='0x1'/>\n"
                               "      <address type='pci' domain='0x0000' bus='0x03' slot='0x01' "
                               "function='0x0'/>\n"));
    EXPECT_THAT(xml, Not(HasSubstr("managed='no'")));
}

TEST(VirtualMachineFiles, StandInsAreWhereTheDomainHasTheCards) {
    const std::vector<HostGpu> gpus =
        guest_with({"0000:3b:00.0@3", "86:00.0@0", "0000:af:00.1@3"}).gpus;
    EXPECT_THAT(
        stand_in_devices(guest_nodes(gpus, 2049, 2)),
        ElementsAre("-object", "memory-backend-ram,id=cell0,size=1024M", "-numa",
                    "node,nodeid=0,cpus=0,memdev=cell0", "-device",
                    "pxb-pcie,id=pci.1,bus=pcie.0,bus_nr=32,numa_node=0", "-device",
                    "pcie-root-port,id=pci.2,bus=pci.1,chassis=2,port=0,addr=0x0", "-device",
                    "bochs-display,bus=pci.2", "-object", "memory-backend-ram,id=cell1,size=1025M",
                    "-numa", "node,nodeid=1,cpus=1,memdev=cell1", "-device",
                    "pxb-pcie,id=pci.3,bus=pcie.0,bus_nr=144,numa_node=1", "-device",
                    "pcie-root-port,id=pci.4,bus=pci.3,chassis=4,port=0,addr=0x0", "-device",
                    "bochs-display,bus=pci.4", "-device",
                    "pcie-root-port,id=pci.5,bus=pci.3,chassis=5,port=1,addr=0x1", "-device",
                    "bochs-display,bus=pci.5"));
    EXPECT_TRUE(stand_in_devices({}).empty());
}

TEST(VirtualMachineFiles, WithoutANodeOfTheHostMemoryIsTakenAnywhere) {
    const std::string xml = domain_xml(guest_with({"3b:00.0"}));
    EXPECT_THAT(xml, AllOf(Not(HasSubstr("numatune")), HasSubstr("<node>0</node>"),
                           HasSubstr("<cell id='0' cpus='0-4' memory='8193' unit='MiB'/>")));
}

TEST(VirtualMachineFiles, VirtualGpusAndSecureBoot) {
    VirtualMachine machine = guest_with({"3b:00.4"});
    EXPECT_THAT(domain_xml(machine), HasSubstr("<feature enabled='no' name='secure-boot'/>"));
    machine.virtual_gpus = machine.secure_boot = true;
    EXPECT_THAT(domain_xml(machine),
                AllOf(HasSubstr("<feature enabled='yes' name='secure-boot'/>"),
                      HasSubstr("<hostdev mode='subsystem' type='pci' managed='no'>")));
    EXPECT_THAT(domain_xml(guest_with({"aa618089-8b16-4d01-a136-25a0f3c73123"})),
                HasSubstr("<address uuid='aa618089-8b16-4d01-a136-25a0f3c73123'/>"));
}

TEST(VirtualMachineFiles, TextIsEscaped) {
    VirtualMachine machine = guest_with({"3b:00.0"});
    machine.name = "<a & 'b'>";
    machine.disk = "/srv/\"c\"&.qcow2";
    EXPECT_THAT(domain_xml(machine),
                AllOf(HasSubstr("<name>&lt;a &amp; &apos;b&apos;&gt;</name>"),
                      HasSubstr("<source file='/srv/&quot;c&quot;&amp;.qcow2'/>")));
}

TEST(VirtualMachineFiles, WhatDoesNotFitIsAnError) {
    EXPECT_THAT(domain_refusal(guest_with({"3b:00.0@0", "3c:00.0"})),
                HasSubstr("only some of --gpu"));
    EXPECT_THAT(domain_refusal(guest_with({"3b:00.0@0", "0000:3B:00.0@1"})),
                HasSubstr("0000:3b:00.0 is given twice"));
    VirtualMachine small = guest_with({"3b:00.0@0", "3c:00.0@1"});
    small.cpus = 1;
    EXPECT_THAT(domain_refusal(small), HasSubstr("1 processors for 2 NUMA nodes"));
}

TEST(VirtualMachineFiles, AllMemoryOfAVmwareMachineIsReserved) {
    EXPECT_EQ(vmx_lines(16384, 4, 512),
              "firmware = \"efi\"\nnumvcpus = \"4\"\nmemSize = \"16384\"\n"
              "sched.mem.min = \"16384\"\nsched.mem.pin = \"TRUE\"\n"
              "pciPassthru.use64bitMMIO = \"TRUE\"\npciPassthru.64bitMMIOSizeGB = \"512\"\n");
}

}  // namespace
}  // namespace edgegpu
