#include "disk/first_boot.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "disk/partitions.hpp"
#include "embedded_first_boot.hpp"

namespace edgegpu {

namespace {

Injected device_file(std::string path, std::string_view content, unsigned mode) {
    Injected injected;
    injected.path = std::move(path);
    injected.content = content;
    injected.mode = mode;
    return injected;
}

/// edgegpu-NAME.service, enabled, and its script /etc/edgegpu/NAME.
Injection unit_files(const std::string& name, std::string_view script, std::string_view unit) {
    const std::string service = "edgegpu-" + name + ".service";
    const std::string path = "/etc/systemd/system/" + service;
    Injected wanted;
    wanted.type = Injected::Type::symlink;
    wanted.path = "/etc/systemd/system/multi-user.target.wants/" + service;
    wanted.content = path;
    return {device_file("/etc/edgegpu/" + name, script, 0755), device_file(path, unit, 0644),
            wanted,
            // systemd may apply all presets at the first boot, and the usual one disables the rest.
            device_file("/etc/systemd/system-preset/80-edgegpu-" + name + ".preset",
                        "enable " + service + "\n", 0644)};
}

}  // namespace

Injection grow_root_files() {
    return unit_files("grow-root", embedded::grow_root, embedded::edgegpu_grow_root_service);
}

Injection encrypt_root_files() {
    Injection files =
        unit_files("encrypt-root", embedded::encrypt_root, embedded::edgegpu_encrypt_root_service);
    files.push_back(device_file("/etc/edgegpu/empty-passphrase", "", 0600));
    return files;
}

Injection volume_group_files(const std::vector<Volume>& volumes, const DiskIdentity& identity) {
    std::string lines;
    for (const Volume& volume : volumes) {
        if (volume.use() == VolumeUse::group) {
            lines += fmt::format("{} {}\n", partition_uuid(identity, volume.name()), volume.group);
        }
    }
    if (lines.empty()) {
        return {};
    }
    Injection files = unit_files("volume-groups", embedded::volume_groups,
                                 embedded::edgegpu_volume_groups_service);
    files.push_back(device_file("/etc/edgegpu/volume-groups.list", lines, 0644));
    return files;
}

}  // namespace edgegpu
