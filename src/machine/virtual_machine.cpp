#include "machine/virtual_machine.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Numbers of an expander bridge's bus and of those behind it: 0x20 to 0xff, divided among them.
constexpr unsigned first_bus = 0x20;
constexpr unsigned end_of_buses = 0x100;
constexpr unsigned most_cards = 16;

Error not_a_gpu(std::string_view text) {
    return error(ErrorKind::usage, "--gpu {}: no PCI address and no UUID", text)
        .hinted(std::string(host_gpu_forms));
}

bool is_hexadecimal(std::string_view text) {
    return !text.empty() &&
           text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_uuid(std::string_view text) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.size() != form.size()) {
        return false;
    }
    for (std::size_t i = 0; i < form.size(); ++i) {
        if (form[i] == '-' ? text[i] != '-' : !is_hexadecimal(text.substr(i, 1))) {
            return false;
        }
    }
    return true;
}

/// "3b:00.0" with its domain; nothing for other text.
std::optional<std::string> pci_address(std::string_view text) {
    const std::string whole = fmt::format("{}{}", text.size() == 7 ? "0000:" : "", text);
    const std::string_view view = whole;
    const bool good = view.size() == 12 && is_hexadecimal(view.substr(0, 4)) && view[4] == ':' &&
                      is_hexadecimal(view.substr(5, 2)) && view[7] == ':' &&
                      (view[8] == '0' || view[8] == '1') && is_hexadecimal(view.substr(9, 1)) &&
                      view[10] == '.' && view[11] >= '0' && view[11] <= '7';
    if (!good) {
        return std::nullopt;
    }
    std::string lower = whole;
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

std::string xml_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '\'':
                escaped += "&apos;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

/// The host's nodes that have a card, in order; one that is unknown if none is given.
std::vector<std::optional<unsigned>> host_nodes(const std::vector<HostGpu>& gpus, unsigned cpus) {
    std::set<std::optional<unsigned>> nodes;
    std::set<std::string> addresses;
    for (const HostGpu& gpu : gpus) {
        nodes.insert(gpu.node);
        if (!addresses.insert(gpu.address).second) {
            throw error(ErrorKind::usage, "--gpu {} is given twice", gpu.address);
        }
    }
    if (nodes.size() > 1 && nodes.contains(std::nullopt)) {
        throw error(ErrorKind::usage, "only some of --gpu have a NUMA node")
            .hinted("give that of each, or of none");
    }
    if (nodes.empty()) {
        nodes.insert(std::nullopt);
    }
    if (gpus.size() > most_cards) {
        throw error(ErrorKind::usage, "more than {} GPUs in a virtual machine", most_cards);
    }
    if (cpus < nodes.size()) {
        throw error(ErrorKind::usage, "{} processors for {} NUMA nodes", cpus, nodes.size())
            .hinted("--cpus gives each node at least one");
    }
    return {nodes.begin(), nodes.end()};
}

/// "0", "0-3"
std::string cpu_range(const GuestNode& node) {
    return node.first_cpu == node.last_cpu ? fmt::format("{}", node.first_cpu)
                                           : fmt::format("{}-{}", node.first_cpu, node.last_cpu);
}

std::string source_of(const HostGpu& gpu) {
    if (gpu.mediated) {
        return fmt::format("<address uuid='{}'/>", gpu.address);
    }
    const std::string& at = gpu.address;
    return fmt::format("<address domain='0x{}' bus='0x{}' slot='0x{}' function='0x{}'/>",
                       at.substr(0, 4), at.substr(5, 2), at.substr(8, 2), at.substr(11));
}

std::string hostdev(const HostGpu& gpu, bool virtual_gpu, std::size_t bus) {
    const std::string head =
        gpu.mediated ? "<hostdev mode='subsystem' type='mdev' managed='no' model='vfio-pci'>\n"
                     : fmt::format(
                           "<hostdev mode='subsystem' type='pci' managed='{}'>\n"
                           "      <driver name='vfio'/>\n",
                           virtual_gpu ? "no" : "yes");
    return fmt::format(
        "    {}"
        "      <source>\n        {}\n      </source>\n"
        "      <address type='pci' domain='0x0000' bus='0x{:02x}' slot='0x00' function='0x0'/>\n"
        "    </hostdev>\n",
        head, source_of(gpu), bus);
}

/// Expander bridges, ports and cards. libvirt numbers controllers of the type pci, and calls a bus
/// by the number of its controller.
std::string pci_devices(const std::vector<GuestNode>& nodes, bool virtual_gpus) {
    std::string controllers = "    <controller type='pci' index='0' model='pcie-root'/>\n";
    std::string cards;
    std::size_t index = 1;
    for (std::size_t cell = 0; cell < nodes.size(); ++cell) {
        if (nodes[cell].gpus.empty()) {
            continue;
        }
        const std::size_t expander = index++;
        controllers += fmt::format(
            "    <controller type='pci' index='{}' model='pcie-expander-bus'>\n"
            "      <target busNr='{}'>\n        <node>{}</node>\n      </target>\n"
            "    </controller>\n",
            expander, nodes[cell].bus, cell);
        std::size_t port = 0;
        for (const HostGpu& gpu : nodes[cell].gpus) {
            const std::size_t bus = index++;
            controllers += fmt::format(
                "    <controller type='pci' index='{0}' model='pcie-root-port'>\n"
                "      <target chassis='{0}' port='0x{1:x}'/>\n"
                "      <address type='pci' domain='0x0000' bus='0x{2:02x}' slot='0x{1:02x}' "
                "function='0x0'/>\n"
                "    </controller>\n",
                bus, port++, expander);
            cards += hostdev(gpu, virtual_gpus, bus);
        }
    }
    return controllers + cards;
}

}  // namespace

HostGpu parse_host_gpu(std::string_view text) {
    HostGpu gpu;
    const std::size_t at = text.find('@');
    const std::string_view device = text.substr(0, at);
    if (at != std::string_view::npos) {
        const std::string_view digits = text.substr(at + 1);
        unsigned node = 0;
        const auto [end, failure] =
            std::from_chars(digits.data(), digits.data() + digits.size(), node);
        if (failure != std::errc() || end != digits.data() + digits.size() || node > 1023) {
            throw error(ErrorKind::usage, "--gpu {}: no NUMA node after @", text)
                .hinted(std::string(host_gpu_forms) +
                        "; a card of which the host says -1 gets none");
        }
        gpu.node = node;
    }
    if (is_uuid(device)) {
        gpu.address = device;
        gpu.mediated = true;
        return gpu;
    }
    const std::optional<std::string> address = pci_address(device);
    if (!address) {
        throw not_a_gpu(text);
    }
    gpu.address = *address;
    return gpu;
}

std::vector<GuestNode> guest_nodes(const std::vector<HostGpu>& gpus, std::uint64_t memory_mib,
                                   unsigned cpus) {
    const std::vector<std::optional<unsigned>> hosts = host_nodes(gpus, cpus);
    const auto count = static_cast<unsigned>(hosts.size());
    std::vector<GuestNode> nodes;
    for (unsigned i = 0; i < count; ++i) {
        GuestNode node;
        node.host = hosts[i];
        node.first_cpu = cpus * i / count;
        node.last_cpu = cpus * (i + 1) / count - 1;
        node.memory_mib = memory_mib * (i + 1) / count - memory_mib * i / count;
        node.bus = first_bus + i * ((end_of_buses - first_bus) / count);
        std::ranges::copy_if(gpus, std::back_inserter(node.gpus),
                             [&](const HostGpu& gpu) { return gpu.node == node.host; });
        nodes.push_back(std::move(node));
    }
    return nodes;
}

std::vector<std::string> stand_in_devices(const std::vector<GuestNode>& nodes) {
    std::vector<std::string> argv;
    std::size_t index = 1;
    for (std::size_t cell = 0; cell < nodes.size(); ++cell) {
        const GuestNode& node = nodes[cell];
        const std::size_t expander = index++;
        argv.insert(
            argv.end(),
            {"-object", fmt::format("memory-backend-ram,id=cell{},size={}M", cell, node.memory_mib),
             "-numa", fmt::format("node,nodeid={0},cpus={1},memdev=cell{0}", cell, cpu_range(node)),
             "-device",
             fmt::format("pxb-pcie,id=pci.{},bus=pcie.0,bus_nr={},numa_node={}", expander, node.bus,
                         cell)});
        for (std::size_t port = 0; port < node.gpus.size(); ++port) {
            const std::size_t bus = index++;
            argv.insert(argv.end(),
                        {"-device",
                         fmt::format("pcie-root-port,id=pci.{0},bus=pci.{1},chassis={0},port={2},"
                                     "addr=0x{2:x}",
                                     bus, expander, port),
                         "-device", fmt::format("bochs-display,bus=pci.{}", bus)});
        }
    }
    return argv;
}

std::string domain_xml(const VirtualMachine& machine) {
    const std::vector<GuestNode> nodes =
        guest_nodes(machine.gpus, machine.memory_mib, machine.cpus);
    std::string numa;
    std::string memory_nodes;
    for (std::size_t cell = 0; cell < nodes.size(); ++cell) {
        numa += fmt::format("      <cell id='{}' cpus='{}' memory='{}' unit='MiB'/>\n", cell,
                            cpu_range(nodes[cell]), nodes[cell].memory_mib);
        if (nodes[cell].host) {
            memory_nodes += fmt::format("    <memnode cellid='{}' mode='strict' nodeset='{}'/>\n",
                                        cell, *nodes[cell].host);
        }
    }
    std::string text = fmt::format(
        "<domain type='kvm'>\n"
        "  <name>{}</name>\n"
        "  <memory unit='MiB'>{}</memory>\n"
        "  <vcpu placement='static'>{}</vcpu>\n",
        xml_text(machine.name), machine.memory_mib, machine.cpus);
    if (!memory_nodes.empty()) {
        text += fmt::format("  <numatune>\n{}  </numatune>\n", memory_nodes);
    }
    text += fmt::format(
        "  <os firmware='efi'>\n"
        "    <type arch='x86_64' machine='q35'>hvm</type>\n"
        // Said in any case: libvirt takes a firmware that has it switched on where it can.
        "    <firmware>\n      <feature enabled='{}' name='secure-boot'/>\n    </firmware>\n"
        "    <boot dev='hd'/>\n"
        "  </os>\n"
        "  <features>\n    <acpi/>\n    <apic/>\n  </features>\n"
        "  <cpu mode='host-passthrough' check='none'>\n"
        // The firmware places BARs of many GiB above the memory only if the processor has the
        // addresses.
        "    <maxphysaddr mode='passthrough'/>\n"
        "    <numa>\n{}    </numa>\n"
        "  </cpu>\n"
        "  <devices>\n"
        "    <disk type='file' device='disk'>\n"
        "      <driver name='qemu' type='{}'/>\n"
        "      <source file='{}'/>\n"
        "      <target dev='vda' bus='virtio'/>\n"
        "    </disk>\n",
        machine.secure_boot ? "yes" : "no", numa, machine.disk_format,
        xml_text(machine.disk.string()));
    text += pci_devices(nodes, machine.virtual_gpus);
    text +=
        "    <interface type='network'>\n"
        "      <source network='default'/>\n"
        "      <model type='virtio'/>\n"
        "    </interface>\n"
        "    <serial type='pty'/>\n"
        "    <console type='pty'/>\n"
        "    <rng model='virtio'>\n      <backend model='random'>/dev/urandom</backend>\n"
        "    </rng>\n"
        "  </devices>\n"
        "</domain>\n";
    return text;
}

std::string vmx_lines(std::uint64_t memory_mib, unsigned cpus, std::uint64_t window_gib) {
    return fmt::format(
        "firmware = \"efi\"\n"
        "numvcpus = \"{1}\"\n"
        "memSize = \"{0}\"\n"
        "sched.mem.min = \"{0}\"\n"
        "sched.mem.pin = \"TRUE\"\n"
        "pciPassthru.use64bitMMIO = \"TRUE\"\n"
        "pciPassthru.64bitMMIOSizeGB = \"{2}\"\n",
        memory_mib, cpus, window_gib);
}

}  // namespace edgegpu
