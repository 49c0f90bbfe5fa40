#include "driver_package/placement.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view units = "/usr/lib/systemd/system";
constexpr std::string_view modprobe_program = "/usr/bin/nvidia-modprobe";

/// nvidia-persistenced as NVIDIA's package for RHEL runs it; a run file has only a template for a
/// user that its installer makes.
constexpr const char* persistenced_unit = R"([Unit]
Description=NVIDIA Persistence Daemon

[Service]
Type=forking
ExecStart=/usr/bin/nvidia-persistenced --verbose
ExecStopPost=/usr/bin/rm -rf /run/nvidia-persistenced

[Install]
WantedBy=multi-user.target
)";
constexpr const char* persistenced_preset = "enable nvidia-persistenced.service\n";

/// The names that nvidia-gridd and its clients have on the system bus. A rule for replies without
/// their types, as an early installer wrote it, would allow everyone to call everything
/// (CVE-2022-42260).
constexpr const char* licence_policy =
    R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <policy context="default">
    <allow own="nvidia.grid.client"/>
    <allow send_destination="nvidia.grid.server"/>
    <allow receive_sender="nvidia.grid.client"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_requested_reply="true" receive_type="method_return"/>
    <allow receive_requested_reply="true" receive_type="error"/>
  </policy>
  <policy user="root">
    <allow own="nvidia.grid.server"/>
  </policy>
</busconfig>
)";

/// As in NVIDIA's own nvidia-kmod-common: nouveau does not take the card first, CUDA finds its
/// device, and the initramfs is not as large as the driver.
constexpr const char* module_options = "blacklist nouveau\nsoftdep nvidia post: nvidia-uvm\n";
constexpr const char* initramfs_options =
    "omit_drivers+=\" nvidia nvidia-drm nvidia-modeset nvidia-uvm nvidia-peermem \"\n";

/// Daemons of a guest, each with a unit that scripts of the installer would copy.
constexpr std::array guest_daemons{"nvidia-gridd", "nvidia-topologyd"};

bool begins_with_one(std::string_view name, std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(beginnings, [&](auto start) { return name.starts_with(start); });
}

/// Files of a guest, whatever module the manifest counts them to.
bool is_of_guest(std::string_view name) {
    return begins_with_one(name, {"nvidia-gridd", "nvidia-topologyd", "gridd", "topologyd"});
}

/// Those of the documentation that an image gets: licences, and the list of GPUs.
bool is_kept_document(std::string_view file) {
    return file == "supported-gpus/supported-gpus.json" || file == "LICENSE" ||
           file == "GRID_LICENSE" || file == "grid-third-party-licenses.txt";
}

/// Why images do not get a file of a type that they otherwise get, or nothing.
std::string_view reason_to_leave_out(const ManifestEntry& entry) {
    const std::string name = entry.name();
    const std::string_view module = entry.module;
    if (entry.compat32) {
        return "32-bit libraries";
    }
    if (!entry.type->left_out.empty()) {
        return entry.type->left_out;
    }
    if (entry.type->name == "DOCUMENTATION") {
        return is_kept_document(entry.file) ? "" : "documentation";
    }
    if (entry.type->directory == "/" && entry.path.starts_with("usr/lib/nvidia")) {
        return of_installer;
    }
    if (is_of_guest(name) || name == "nvidia-bug-report.sh" || name.starts_with("libnvidia-cfg.")) {
        return {};
    }
    if (module == "xutils" || module == "xdriver" || module == "vulkansc" || module == "pcc" ||
        begins_with_one(
            name, {"nvidia-settings", "nvidia-xconfig", "libnvidia-gtk", "libnvidia-wayland-client",
                   "libnvidia-egl-", "nvidia-ngx-updater"})) {
        return for_display;
    }
    if (begins_with_one(name, {"nvidia-powerd", "nvidia-suspend", "nvidia-hibernate",
                               "nvidia-resume", "nvidia-sleep"}) ||
        (module == "powerd" || module == "nvtopps")) {
        return for_sleep;
    }
    if (name.starts_with("nvidia-installer") || name.starts_with("nvidia-uninstall")) {
        return of_installer;
    }
    return {};
}

DriverPart part_of(const ManifestEntry& entry) {
    const std::string name = entry.name();
    if (entry.type->part == DriverPart::proprietary_modules) {
        return entry.file.starts_with("kernel-open/") ? DriverPart::open_modules
                                                      : DriverPart::proprietary_modules;
    }
    if (name.starts_with("nvidia-persistenced")) {
        return DriverPart::nvidia_persistenced;
    }
    return name.starts_with("libnvidia-fbc.") ? DriverPart::graphics_libs : entry.type->part;
}

std::string directory_of(const ManifestEntry& entry, const std::string& version) {
    const std::string_view type = entry.type->name;
    std::string directory(entry.type->directory);
    if (type == "FIRMWARE") {
        directory += "/" + version;
    } else if (type == "KERNEL_MODULE_SRC" || type == "DKMS_CONF") {
        directory += "/nvidia-" + version;
    } else if (type == "DOCUMENTATION") {
        return entry.name() == "supported-gpus.json" ? directory
                                                     : "/usr/share/licenses/nvidia-driver-cuda";
    } else if (directory == "/") {
        return directory + entry.path;
    }
    return entry.path.empty() ? directory : fmt::format("{}/{}", directory, entry.path);
}

DriverFile placed(const ManifestEntry& entry, const std::string& version) {
    DriverFile file;
    file.part = part_of(entry);
    file.path = fmt::format("{}/{}", directory_of(entry, version), entry.name());
    if (entry.type->is_link) {
        file.target =
            entry.type->name == "GBM_BACKEND_LIB_SYMLINK" ? "../" + entry.target : entry.target;
        return file;
    }
    // Only one program creates device nodes for everyone; nothing else is writable or setuid.
    file.mode = file.path == modprobe_program ? 04755 : (entry.mode & 0755U) | 0444U;
    file.source = entry.file.starts_with("./") ? entry.file.substr(2) : entry.file;
    return file;
}

DriverFile made(DriverPart part, std::string path, std::string content) {
    return {part, std::move(path), 0644, {}, {}, std::move(content)};
}

DriverFile copied(std::string path, std::string source) {
    return {DriverPart::cuda, std::move(path), 0644, std::move(source)};
}

bool has_path(const Placement& placement, std::string_view path) {
    return std::ranges::find(placement.files, path, &DriverFile::path) != placement.files.end();
}

/// What the scripts in a guest's archive (init-scripts/) would do on a running system.
void add_guest(const std::set<std::string>& unpacked, Placement& placement,
               const std::string& origin) {
    for (const std::string daemon : guest_daemons) {
        if (!has_path(placement, "/usr/bin/" + daemon)) {
            continue;
        }
        const std::string unit = fmt::format("{}/{}.service", units, daemon);
        const std::string source = fmt::format("init-scripts/systemd/{}.service", daemon);
        if (has_path(placement, unit)) {
            continue;
        }
        if (!unpacked.contains(source)) {
            throw error(ErrorKind::usage, "{}: has {}, and neither a unit nor {}", origin, daemon,
                        source);
        }
        placement.files.push_back(copied(unit, source));
    }
    constexpr const char* settings = "gridd.conf.template";
    const std::string place = fmt::format("/etc/nvidia/{}", settings);
    if (unpacked.contains(settings) && !has_path(placement, place)) {
        placement.files.push_back(copied(place, settings));
    }
    placement.files.push_back(
        made(DriverPart::cuda, "/usr/share/dbus-1/system.d/nvidia-grid.conf", licence_policy));
}

/// What NVIDIA's packages have, and no run file.
void add_made(const DriverManifest& manifest, Placement& placement) {
    const auto add = [&](DriverPart part, std::string path, const char* content) {
        placement.files.push_back(made(part, std::move(path), content));
    };
    add(DriverPart::nvidia_persistenced, fmt::format("{}/nvidia-persistenced.service", units),
        persistenced_unit);
    add(DriverPart::nvidia_persistenced,
        "/usr/lib/systemd/system-preset/70-nvidia-persistenced.preset", persistenced_preset);
    add(DriverPart::kmod_common, "/usr/lib/modprobe.d/nvidia.conf", module_options);
    add(DriverPart::kmod_common, "/usr/lib/dracut/dracut.conf.d/99-nvidia.conf", initramfs_options);
    // The installer leaves it to ldconfig.
    const std::string ngx = fmt::format("libnvidia-ngx.so.{}", manifest.version);
    constexpr const char* link = "/usr/lib64/libnvidia-ngx.so.1";
    if (has_path(placement, fmt::format("/usr/lib64/{}", ngx)) && !has_path(placement, link)) {
        placement.files.push_back({DriverPart::graphics_libs, link, 0777, {}, ngx});
    }
}

/// Files of the archive that the manifest does not have, and nothing else took.
void note_unlisted(const std::set<std::string>& unpacked, const DriverManifest& manifest,
                   Placement& placement) {
    std::set<std::string> listed{".manifest"};
    const auto plain = [](const std::string& file) {
        return file.starts_with("./") ? file.substr(2) : file;
    };
    for (const ManifestEntry& entry : manifest.entries) {
        listed.insert(plain(entry.file));
    }
    for (const std::string& line : manifest.unknown) {
        listed.insert(plain(line.substr(0, line.find(' '))));
    }
    for (const DriverFile& file : placement.files) {
        listed.insert(file.source);
    }
    for (const std::string& path : unpacked) {
        if (!listed.contains(path)) {
            placement.left_out["not in its manifest"].push_back(path);
        }
    }
}

void require_guest_or_whole(const std::set<std::string>& unpacked, const std::string& origin) {
    for (const char* name : {"is_vgpu_host_package.txt", "nvidia-vgpud", "nvidia-vgpu-mgr"}) {
        if (unpacked.contains(name)) {
            throw error(ErrorKind::usage,
                        "{}: the driver of a host that offers virtual GPUs (it has {})", origin,
                        name)
                .hinted(
                    "a guest's is NVIDIA-Linux-x86_64-VERSION-grid.run; of whole cards, "
                    "NVIDIA-Linux-x86_64-VERSION.run");
        }
    }
}

void require_complete(const Placement& placement, const DriverManifest& manifest,
                      const std::string& origin) {
    const auto require = [&](bool there, std::string_view what) {
        if (!there) {
            throw error(ErrorKind::usage, "{}: has no {}: not a whole driver", origin, what);
        }
    };
    require(has_path(placement, fmt::format("/usr/src/nvidia-{}/dkms.conf", manifest.version)) &&
                !manifest.modules.empty(),
            "sources of kernel modules for dkms");
    for (const std::string_view program :
         {"nvidia-smi", "nvidia-persistenced", "nvidia-modprobe"}) {
        require(has_path(placement, fmt::format("/usr/bin/{}", program)), program);
    }
    for (const std::string_view library :
         {"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-cfg.so.1"}) {
        require(has_path(placement, fmt::format("/usr/lib64/{}", library)), library);
    }
}

/// Throws Error for two files of one part in one place.
void require_distinct(const Placement& placement, const std::string& origin) {
    const auto twice =
        std::ranges::adjacent_find(placement.files, [](const DriverFile& a, const DriverFile& b) {
            return a.part == b.part && a.path == b.path;
        });
    if (twice != placement.files.end()) {
        throw error(ErrorKind::usage, "{}: has {} twice", origin, twice->path);
    }
}

}  // namespace

Placement place_files(const DriverManifest& manifest, const std::set<std::string>& unpacked,
                      const std::string& origin) {
    require_guest_or_whole(unpacked, origin);
    Placement placement;
    for (const ManifestEntry& entry : manifest.entries) {
        if (const std::string_view why = reason_to_leave_out(entry); !why.empty()) {
            placement.left_out[std::string(why)].push_back(entry.file);
            continue;
        }
        DriverFile file = placed(entry, manifest.version);
        if (!file.source.empty() && !unpacked.contains(file.source)) {
            throw error(ErrorKind::usage, "{}: its manifest has {}, and the archive does not",
                        origin, file.source);
        }
        placement.files.push_back(std::move(file));
    }
    if (!manifest.unknown.empty()) {
        placement.left_out["of kinds that edgegpu does not know"] = manifest.unknown;
    }
    placement.is_guest = has_path(placement, "/usr/bin/nvidia-gridd");
    if (placement.is_guest) {
        add_guest(unpacked, placement, origin);
    }
    add_made(manifest, placement);
    note_unlisted(unpacked, manifest, placement);
    std::ranges::sort(placement.files, {},
                      [](const DriverFile& file) { return std::tie(file.part, file.path); });
    require_distinct(placement, origin);
    require_complete(placement, manifest, origin);
    return placement;
}

}  // namespace edgegpu
