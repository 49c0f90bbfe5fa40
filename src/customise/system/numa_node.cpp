#include "customise/system/numa_node.hpp"

#include <fmt/format.h>

namespace edgegpu {

std::string numa_node_rule(unsigned node) {
    return fmt::format(
        "# [nvidia] numa_node of the blueprint: GPUs of which the firmware names no NUMA node. The "
        "kernel says\n"
        "# \"[Firmware Bug]: Overriding NUMA node\" and is tainted by it.\n"
        "ACTION==\"add\", SUBSYSTEM==\"pci\", ATTR{{vendor}}==\"0x10de\", "
        "ATTR{{class}}==\"0x03*\", "
        "ATTR{{numa_node}}==\"-1\", TEST==\"/sys/devices/system/node/node{0}\", "
        "ATTR{{numa_node}}=\"{0}\"\n",
        node);
}

void add_numa_node(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree) {
    if (!nvidia || !nvidia->numa_node) {
        return;
    }
    // Before 80-drivers.rules.
    put_entry(tree, "/usr/lib/udev/rules.d/70-edgegpu-numa-node.rules",
              make_file_entry(ctx, numa_node_rule(*nvidia->numa_node), 0644));
}

}  // namespace edgegpu
