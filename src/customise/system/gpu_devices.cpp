#include "customise/system/gpu_devices.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace edgegpu {

namespace {

constexpr const char* units = "/usr/lib/systemd/system";
constexpr const char* devices_service = "edgegpu-gpu-devices.service";
constexpr const char* toolkits_refresh = "nvidia-cdi-refresh.service";
constexpr const char* own_refresh = "edgegpu-cdi.service";

/// `z` sets the label that the image's policy has for an existing path, and keeps mode and owner.
/// /run/cdi must exist with its label before a file is created in it.
constexpr const char* tmpfiles =
    R"(# Labels of the GPU's device nodes, and the directory of CDI specifications.
z /dev/nvidia* - - - -
z /dev/nvidia-caps/* - - - -
d /run/cdi 0755 root root -
)";

constexpr const char* cdi_service = R"([Unit]
Description=CDI specification of the NVIDIA GPUs
ConditionPathExists=/proc/driver/nvidia/version
After=edgegpu-gpu-devices.service

[Service]
Type=oneshot
ExecStart=/usr/bin/nvidia-ctk cdi generate --output=/run/cdi/nvidia.yaml
)";

/// A drop-in for the container toolkit's unit: the device nodes have to exist.
constexpr const char* refresh_order = R"([Unit]
After=edgegpu-gpu-devices.service
)";

/// nvidia-modprobe creates one kind of node per call: GPUs and /dev/nvidiactl (255), unified memory
/// (-u), mode setting (-m). The minor numbers of GPUs are in /proc/driver/nvidia.
constexpr const char* modprobe_calls =
    R"(ExecStart=-/usr/bin/nvidia-modprobe -c 0 -c 255
ExecStart=-/bin/sh -c 'sed -n "s/^Device Minor:[[:space:]]*//p" /proc/driver/nvidia/gpus/*/information | \
    while read -r minor; do /usr/bin/nvidia-modprobe -c "$$minor"; done'
ExecStart=-/usr/bin/nvidia-modprobe -u -c 0
ExecStart=-/usr/bin/nvidia-modprobe -m
)";

std::string devices_unit(bool modprobe) {
    // Calls of nvidia-modprobe may fail ("-"): options of the driver can disable nodes.
    const std::string nodes = modprobe ? modprobe_calls : "";
    return fmt::format(R"([Unit]
Description=Device nodes of the NVIDIA GPUs and their labels
ConditionPathExists=/proc/driver/nvidia

[Service]
Type=oneshot
{}ExecStart=/usr/bin/systemd-tmpfiles --create edgegpu-gpu.conf
)",
                       nodes);
}

/// A rule that starts the units `wanted` for a GPU once the driver is bound to it.
std::string udev_rules(std::string_view wanted) {
    return fmt::format(
        "# When the driver is bound to a GPU: its device nodes, then the CDI specification.\n"
        "SUBSYSTEM==\"pci\", ACTION!=\"remove|unbind\", ATTR{{vendor}}==\"0x10de\", "
        "DRIVER==\"nvidia\", TAG+=\"systemd\", ENV{{SYSTEMD_WANTS}}+=\"{}\"\n",
        wanted);
}

bool has_unit(const Tree& tree, std::string_view name) {
    return find_entry(tree, fmt::format("{}/{}", units, name)) != nullptr ||
           find_entry(tree, fmt::format("/etc/systemd/system/{}", name)) != nullptr;
}

}  // namespace

void add_gpu_devices(const Context& ctx, const std::optional<NvidiaRequest>& nvidia, Tree& tree) {
    if (!nvidia || find_entry(tree, "/usr/lib/systemd") == nullptr) {
        return;
    }
    const auto put = [&](const std::string& path, const std::string& content) {
        put_entry(tree, path, make_file_entry(ctx, content, 0644));
    };
    std::string wanted = devices_service;
    if (has_unit(tree, toolkits_refresh)) {
        wanted += fmt::format(" {}", toolkits_refresh);
        put(fmt::format("{}/{}.d/10-edgegpu.conf", units, toolkits_refresh), refresh_order);
    } else if (find_entry(tree, "/usr/bin/nvidia-ctk") != nullptr) {
        wanted += fmt::format(" {}", own_refresh);
        put(fmt::format("{}/{}", units, own_refresh), cdi_service);
    }
    const bool modprobe = find_entry(tree, "/usr/bin/nvidia-modprobe") != nullptr;
    put(fmt::format("{}/{}", units, devices_service), devices_unit(modprobe));
    put("/usr/lib/tmpfiles.d/edgegpu-gpu.conf", tmpfiles);
    put("/usr/lib/udev/rules.d/71-edgegpu-gpu.rules", udev_rules(wanted));
}

}  // namespace edgegpu
