#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// name → major number, of the character devices in /proc/devices
std::map<std::string, int> character_drivers(const Places& places) {
    std::map<std::string, int> drivers;
    const Reading devices = read_start(places.proc, "devices", small_file);
    for (const std::string_view line : lines_of(devices.content)) {
        if (line.starts_with("Block devices:")) {
            break;
        }
        const std::vector<std::string_view> words = words_of(line);
        const auto number = words.empty() ? std::nullopt : whole_number<int>(words[0]);
        if (words.size() == 2 && number) {
            drivers.try_emplace(std::string(words[1]), *number);
        }
    }
    return drivers;
}

int major_of(const std::map<std::string, int>& drivers, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (const auto found = drivers.find(name); found != drivers.end()) {
            return found->second;
        }
    }
    return -1;
}

/// The node's path below `dev`; names have no slash and nothing follows links: a link in place of a
/// node is seen as it is.
void look_at(const Places& places, bool may_open, DeviceNode& node) {
    const std::string path = places.dev / node.path.substr(node.path.find_last_of('/') + 1);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        return;
    }
    node.exists = true;
    node.is_character_device = S_ISCHR(status.st_mode);
    if (node.is_character_device) {
        node.major = major(status.st_rdev);
        node.minor = minor(status.st_rdev);
    }
    node.mode = status.st_mode & 07777U;
    node.uid = status.st_uid;
    node.gid = status.st_gid;
    std::array<char, 1024> label{};
    const ssize_t size = ::lgetxattr(path.c_str(), "security.selinux", label.data(), label.size());
    if (size > 0) {
        // The kernel counts the byte 0 at its end.
        node.label = std::string(label.data(), ::strnlen(label.data(), label.size()));
    }
    if (!node.is_character_device || !may_open) {
        return;
    }
    const int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    node.open_error = file < 0 ? std::generic_category().message(errno) : std::string();
    if (file >= 0) {
        ::close(file);
    }
}

DeviceNode expected_node(std::string path, int major_number, int minor_number) {
    DeviceNode node;
    node.path = std::move(path);
    node.expected_major = major_number;
    node.expected_minor = minor_number;
    return node;
}

/// Nodes of GPUs by the driver's numbers; if it gives none, those that are there.
std::vector<DeviceNode> gpu_nodes(const Places& places, const Facts& facts, int major_number) {
    std::vector<DeviceNode> nodes;
    for (const ProcGpu& gpu : facts.proc_gpus) {
        if (gpu.minor >= 0 && !gpu.excluded) {
            nodes.push_back(
                expected_node("/dev/nvidia" + std::to_string(gpu.minor), major_number, gpu.minor));
        }
    }
    if (!nodes.empty()) {
        return nodes;
    }
    constexpr std::string_view start = "nvidia";
    for (const std::string& name : names_in(places.dev, "")) {
        const auto number =
            name.starts_with(start) ? whole_number<int>(name.substr(start.size())) : std::nullopt;
        if (number && *number >= 0) {
            nodes.push_back(expected_node("/dev/" + name, major_number, *number));
        }
    }
    return nodes;
}

}  // namespace

void observe_nodes(const Places& places, Facts& facts) {
    const std::map<std::string, int> drivers = character_drivers(places);
    // "nvidia-frontend" until 545
    const int gpu_major = major_of(drivers, {"nvidia", "nvidia-frontend", "nvidiactl"});
    const int uvm_major = major_of(drivers, {"nvidia-uvm"});
    constexpr int control_minor = 255;
    std::vector<DeviceNode> nodes{expected_node("/dev/nvidiactl", gpu_major, control_minor),
                                  expected_node("/dev/nvidia-uvm", uvm_major, 0),
                                  expected_node("/dev/nvidia-uvm-tools", uvm_major, 1)};
    std::ranges::move(gpu_nodes(places, facts, gpu_major), std::back_inserter(nodes));
    for (DeviceNode& node : nodes) {
        look_at(places, false, node);
        const bool is_drivers = node.is_character_device && node.expected_major >= 0 &&
                                node.major == static_cast<unsigned>(node.expected_major);
        if (is_drivers) {
            look_at(places, true, node);
        }
    }
    facts.nodes = std::move(nodes);
    facts.selinux = is_there(places.sys, "fs/selinux/enforce");
}

}  // namespace edgegpu::gpu_health
