// Domains of virtual machines, by libvirt's own schema.

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "execution/process.hpp"
#include "machine/virtual_machine.hpp"
#include "support/files/file.hpp"
#include "unit/customise_fixture.hpp"

namespace edgegpu::test {
namespace {

constexpr const char* schema = "/usr/share/libvirt/schemas/domain.rng";

class DomainSchema : public TreeTest {
protected:
    /// What xmllint says of a document, and whether it takes it.
    ProcessResult lint(const std::string& xml) {
        write_file(scratch / "domain.xml", xml);
        return run_process(
            ctx, {"xmllint", "--noout", "--relaxng", schema, (scratch / "domain.xml").string()},
            {"PATH=/usr/bin:/bin", "LC_ALL=C"});
    }
};

TEST_F(DomainSchema, EveryShapeIsADomain) {
    ASSERT_TRUE(std::filesystem::exists(schema)) << "scripts/setup installs libvirt0";
    const std::vector<std::vector<std::string>> shapes{
        {"0000:3b:00.0"},
        {"0000:3b:00.0@0"},
        {"0000:3b:00.0@7", "0000:3c:00.0@7", "0001:86:1f.7@2", "0000:af:00.0@1023"},
        {"aa618089-8b16-4d01-a136-25a0f3c73123", "ba618089-8b16-4d01-a136-25a0f3c73123"},
        std::vector<std::string>{},
    };
    for (const std::vector<std::string>& gpus : shapes) {
        for (const bool second : {false, true}) {
            VirtualMachine machine;
            machine.name = "edge-7 & <co> 'x'";
            machine.memory_mib = 16385;
            machine.cpus = 5;
            machine.disk = "/srv/a b&'\".raw";
            machine.disk_format = second ? "raw" : "qcow2";
            machine.virtual_gpus = machine.secure_boot = second;
            for (const std::string& gpu : gpus) {
                machine.gpus.push_back(parse_host_gpu(gpu));
            }
            const std::string xml = domain_xml(machine);
            const ProcessResult result = lint(xml);
            EXPECT_EQ(result.status, 0) << result.output << xml;
        }
    }
    // The schema does not take anything: an element that it does not have, a number that is none.
    const std::string head = "<domain type='kvm'><name>a</name>";
    const std::string bridge =
        "<devices><controller type='pci' index='1' model='pcie-expander-bus'>"
        "<target busNr='{}'/></controller></devices></domain>";
    EXPECT_EQ(lint(head + fmt::format(fmt::runtime(bridge), "32")).status, 0);
    EXPECT_NE(lint(head + fmt::format(fmt::runtime(bridge), "x")).status, 0);
    EXPECT_NE(lint(head + "<nothing/></domain>").status, 0);
}

}  // namespace
}  // namespace edgegpu::test
