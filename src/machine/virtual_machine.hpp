#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// A GPU of a host that is given to a virtual machine.
struct HostGpu {
    /// PCI address ("0000:3b:00.0"), or the UUID of a mediated device.
    std::string address;
    bool mediated = false;
    /// The host's NUMA node of the card; nothing: unknown.
    std::optional<unsigned> node;
};

/// A cell of a guest's NUMA: the cards of one node of the host, with their part of processors and
/// memory.
struct GuestNode {
    /// nothing: unknown
    std::optional<unsigned> host;
    unsigned first_cpu = 0;
    unsigned last_cpu = 0;
    std::uint64_t memory_mib = 0;
    /// number of the expander bridge's bus, below which the cards are
    unsigned bus = 0;
    std::vector<HostGpu> gpus;
};

/// The cells of a guest with these GPUs, at least one, in the order of the host's nodes, which is
/// also that of their buses. So the guest's firmware says to which node a card belongs, and nothing
/// has to be written to sysfs. Throws ErrorKind::usage if only some GPUs have a node, one is given
/// twice, or there are fewer processors than nodes.
[[nodiscard]] std::vector<GuestNode> guest_nodes(const std::vector<HostGpu>& gpus,
                                                 std::uint64_t memory_mib, unsigned cpus);

/// QEMU's arguments for these cells and bridges, with a display adapter (PCI class 0380) in place
/// of each GPU: what `domain_xml` describes, for a host without the cards.
[[nodiscard]] std::vector<std::string> stand_in_devices(const std::vector<GuestNode>& nodes);

/// A virtual machine that starts a disk image.
struct VirtualMachine {
    std::string name;
    std::uint64_t memory_mib = 0;
    unsigned cpus = 0;
    std::filesystem::path disk;
    /// QEMU's name of its format: "raw", "qcow2".
    std::string disk_format;
    /// GPUs are a host's virtual GPUs, which the host has set up: libvirt leaves their driver
    /// alone.
    bool virtual_gpus = false;
    /// Whether the firmware verifies what it starts: kernel modules then need a key that the
    /// machine has enrolled.
    bool secure_boot = false;
    std::vector<HostGpu> gpus;
};

inline constexpr std::string_view host_gpu_forms =
    "the PCI address on the host with its NUMA node there, as in 0000:3b:00.0@1 (lspci -D -d 10de: "
    "and /sys/bus/pci/devices/ADDRESS/numa_node), or the UUID of a mediated device";

/// "0000:3b:00.0@1", "3b:00.0", a UUID. Throws ErrorKind::usage for anything else.
[[nodiscard]] HostGpu parse_host_gpu(std::string_view text);

/// A libvirt domain (https://libvirt.org/formatdomain.html): q35 with UEFI, with the cells of
/// `guest_nodes`, each with memory from its node of the host. Throws what that throws.
[[nodiscard]] std::string domain_xml(const VirtualMachine& machine);

/// Lines of a VMware machine's configuration: UEFI, all memory reserved, as passed devices need it,
/// and a window of `window_gib` for their BARs.
[[nodiscard]] std::string vmx_lines(std::uint64_t memory_mib, unsigned cpus,
                                    std::uint64_t window_gib);

}  // namespace edgegpu
