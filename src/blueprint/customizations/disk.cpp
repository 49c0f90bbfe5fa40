#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "blueprint/customizations/customizations.hpp"
#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// A file system that every disk image has.
struct SystemFileSystem {
    std::string_view mountpoint;
    std::string_view type;
    std::uint64_t DiskSizes::*least;
};

constexpr std::array<SystemFileSystem, 3> system_file_systems{{
    {"/", "ext4", &DiskSizes::rootfs},
    {"/boot", "ext4", &DiskSizes::boot},
    {"/boot/efi", "vfat", &DiskSizes::esp},
}};

/// Image builder's, for a file system without a size.
constexpr std::uint64_t usual_volume = 1ULL << 30U;
/// Image builder's, for a volume group without a name.
constexpr std::string_view usual_group = "vg00";
/// Of LVM.
constexpr std::size_t longest_group_name = 127;
/// Types of other file systems, for which devices get ext4.
constexpr std::array<std::string_view, 4> converted_types{"xfs", "btrfs", "ext3", "ext2"};
/// What mke2fs gives a journal and some inodes.
constexpr std::uint64_t least_volume = 16ULL << 20U;
constexpr std::uint64_t volume_unit = 1ULL << 20U;
/// Of ext4 and of swap.
constexpr std::size_t longest_volume_label = 15;

/// Why devices can have no file system at this path, to follow it; empty: they can.
std::string_view unfit_mount_point(std::string_view point) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 12> reasons{{
        {"/dev", "is the kernel's"},
        {"/proc", "is the kernel's"},
        {"/sys", "is the kernel's"},
        {"/run/media", ""},
        {"/run", "is in memory"},
        {"/ostree", "belongs to ostree"},
        {"/sysroot", "belongs to ostree"},
        {"/bin", "is a link into /usr"},
        {"/sbin", "is a link into /usr"},
        {"/lib", "is a link into /usr"},
        {"/lib64", "is a link into /usr"},
        {"/var/run", "is a link to /run"},
    }};
    const auto found = std::ranges::find_if(
        reasons, [&](const auto& reason) { return is_below(point, reason.first); });
    return found == reasons.end() ? std::string_view() : found->second;
}

/// The path as devices have it. Throws ErrorKind::usage.
std::string checked_mount_point(const TableReader& table) {
    const std::string given = table.required_string("mountpoint");
    std::string point = deployed_path(given);
    const bool normal = given.starts_with('/') && given.find("//") == std::string::npos &&
                        (given == "/" || !given.ends_with('/')) &&
                        (given + '/').find("/./") == std::string::npos &&
                        (given + '/').find("/../") == std::string::npos;
    if (!normal || !is_plain_name(given, "/_.-+@:,")) {
        throw error_at(table, "mountpoint", "\"{}\" cannot be a mount point", given)
            .hinted("an absolute path without \"..\", of letters, digits and / _ . - + @ : ,");
    }
    const bool system =
        std::ranges::find(system_file_systems, point, &SystemFileSystem::mountpoint) !=
        system_file_systems.end();
    if (const std::string_view reason = unfit_mount_point(point); !system && !reason.empty()) {
        throw error_at(table, "mountpoint", "{} cannot be a mount point: it {}", given, reason);
    }
    return point;
}

/// A file system that a blueprint asks for.
struct WantedFileSystem {
    /// for devices
    std::string mountpoint;
    std::uint64_t size = 0;
    std::string type;
    std::string label;
};

/// The tables of disk images, read into the blueprint.
class DiskTables {
public:
    explicit DiskTables(Blueprint& blueprint) : blueprint_(blueprint) {}

    /// An element of `filesystem`.
    void read_file_system(const TableReader& table);
    void read_disk(const TableReader& table);

private:
    void read_partition(const TableReader& table);
    void warn_of_partition_keys(const TableReader& table);
    void read_plain(const TableReader& table);
    void read_volume_group(const TableReader& table);
    void read_btrfs(const TableReader& table);
    /// Keys of a file system on a partition or logical volume.
    void read_content(const TableReader& table, std::uint64_t size);
    void add(const TableReader& table, const WantedFileSystem& wanted);
    void add_swap(const TableReader& table, std::uint64_t size, const std::string& label);
    /// Bytes of the partition that a volume of `size` bytes gets; 0: none were given.
    [[nodiscard]] static std::uint64_t partition_size(std::uint64_t size);
    [[nodiscard]] static std::string read_group_name(const TableReader& table);
    /// What the logical volumes leave of the partition's size.
    void add_group(const TableReader& table, const std::string& name, std::uint64_t size,
                   bool has_logical_volumes);
    void add_volume(std::uint64_t size, const std::string& label, std::vector<VolumeMount> mounts);
    /// Whether it is in / or /boot in any case: then nothing is mounted there, and that gets its
    /// size.
    bool is_within_system(const TableReader& table, const std::string& point, std::uint64_t size);
    void take_mount_point(const TableReader& table, const std::string& point);
    [[nodiscard]] static std::string read_label(const TableReader& table);
    template <typename... Args>
    void warn(const SourceLocation& place, fmt::format_string<Args...> format, Args&&... args) {
        blueprint_.warnings.push_back(
            fmt::format("{}: {}", place.text(), fmt::format(format, std::forward<Args>(args)...)));
    }

    Blueprint& blueprint_;
    std::set<std::string> seen_;
};

std::string DiskTables::read_label(const TableReader& table) {
    std::string label = table.string("label");
    if (!label.empty() && (label.size() > longest_volume_label || !is_plain_name(label, "_.-+"))) {
        table.note(error_at(table, "label", "\"{}\" cannot be a label", label)
                       .hinted("at most 15 letters, digits, '_', '.', '-' and '+'"));
    }
    return label;
}

void DiskTables::take_mount_point(const TableReader& table, const std::string& point) {
    if (!seen_.insert(point).second) {
        throw error_at(table, "mountpoint", "duplicate file system {}", point);
    }
}

std::uint64_t DiskTables::partition_size(std::uint64_t size) {
    size = std::max(size == 0 ? usual_volume : size, least_volume);
    return (size + volume_unit - 1) / volume_unit * volume_unit;
}

void DiskTables::add_volume(std::uint64_t size, const std::string& label,
                            std::vector<VolumeMount> mounts) {
    for (const VolumeMount& mount : mounts) {
        if (!is_path_of_device(mount.point)) {
            blueprint_.mount_points.push_back(mount.point);
        }
    }
    blueprint_.image.volumes.push_back({partition_size(size), label, std::move(mounts), {}});
}

bool DiskTables::is_within_system(const TableReader& table, const std::string& point,
                                  std::uint64_t size) {
    const auto added = [&](std::string_view reason, std::string_view to,
                           std::uint64_t DiskSizes::*least) {
        warn(table.location("mountpoint"),
             "{} has no file system of its own: {}; its size is added to that of {}", point, reason,
             to);
        blueprint_.image.least.*least += size;
        return true;
    };
    if (is_below(point, "/usr")) {
        return added("it is what the commit has, and upgrades replace it", "/", &DiskSizes::rootfs);
    }
    if (is_below(point, "/etc")) {
        return added("each deployment has its own", "/", &DiskSizes::rootfs);
    }
    return is_below(point, "/boot") &&
           added("boot loaders read that of /boot", "/boot", &DiskSizes::boot);
}

void DiskTables::add(const TableReader& table, const WantedFileSystem& wanted) {
    const auto system =
        std::ranges::find(system_file_systems, wanted.mountpoint, &SystemFileSystem::mountpoint);
    const bool is_system = system != system_file_systems.end();
    const std::string_view type = is_system ? system->type : "ext4";
    take_mount_point(table, wanted.mountpoint);
    if (!wanted.type.empty() && wanted.type != type) {
        if (type == "vfat" || wanted.type == "vfat" || wanted.type == "swap") {
            throw error_at(table, "fs_type", "the file system {} of a disk image is {}",
                           wanted.mountpoint, type)
                .hinted(fmt::format("remove fs_type, or set it to \"{}\"", type));
        }
        if (std::ranges::find(converted_types, wanted.type) == converted_types.end()) {
            throw error_at(table, "fs_type", "\"{}\" is no type of file system", wanted.type)
                .hinted("ext4, xfs, vfat (/boot/efi) or swap");
        }
        warn(table.location("fs_type"),
             "{} becomes ext4, not {}: file systems are written without mounting them, and only "
             "as ext4; devices mount it as ext4, which has no project quotas (prjquota), "
             "snapshots or compression",
             wanted.mountpoint, wanted.type);
    }
    if (is_system) {
        if (!wanted.label.empty()) {
            warn(table.location("label"), "the label has no effect: {} gets that of edgegpu",
                 wanted.mountpoint);
        }
        blueprint_.image.least.*(system->least) += wanted.size;
    } else if (!is_within_system(table, wanted.mountpoint, wanted.size)) {
        add_volume(wanted.size, wanted.label, {{wanted.mountpoint, {}}});
    }
}

void DiskTables::add_swap(const TableReader& table, std::uint64_t size, const std::string& label) {
    if (!seen_.insert("swap").second) {
        throw error_at(table, "fs_type", "a disk image has one swap partition, not two");
    }
    add_volume(size, label, {});
}

void DiskTables::read_file_system(const TableReader& table) {
    // `size` is image builder's older name.
    const std::uint64_t size = read_size(table, table.has("minsize") ? "minsize" : "size");
    if (table.has("minsize") && table.has("size")) {
        table.note(error_at(table, "size",
                            "\"minsize\" and \"size\" are the same: remove "
                            "one of them"));
    }
    const std::string label = read_label(table);
    table.finish({"mountpoint"});
    add(table, {checked_mount_point(table), size, {}, label});
}

void DiskTables::read_content(const TableReader& table, std::uint64_t size) {
    const std::string type = table.string("fs_type");
    const std::string label = read_label(table);
    const bool mounted = table.has("mountpoint");
    table.finish();
    if (type == "swap" && !mounted) {
        add_swap(table, size, label);
    } else if (!mounted) {
        throw error_at(table.location(), "a partition without mountpoint has no use")
            .hinted("give it a mountpoint, or fs_type = \"swap\"");
    } else {
        add(table, {checked_mount_point(table), size, type, label});
    }
}

void DiskTables::warn_of_partition_keys(const TableReader& table) {
    for (const char* key : {"part_label", "part_type", "part_uuid"}) {
        if (table.has(key)) {
            warn(table.location(key),
                 "{} has no effect: edgegpu chooses names, types and UUIDs of partitions "
                 "(docs/images.md)",
                 table.full_name(key));
        }
    }
}

void DiskTables::read_plain(const TableReader& table) {
    warn_of_partition_keys(table);
    read_content(table, read_size(table, "minsize"));
}

std::string DiskTables::read_group_name(const TableReader& table) {
    std::string name = table.string("name", std::string(usual_group));
    if (name.size() > longest_group_name || !is_plain_name(name, "_.-+")) {
        throw error_at(table, "name", "\"{}\" cannot be the name of a volume group", name)
            .hinted("at most 127 letters, digits and _ . - +, with a letter or digit first");
    }
    return name;
}

void DiskTables::add_group(const TableReader& table, const std::string& name, std::uint64_t size,
                           bool has_logical_volumes) {
    if (size < least_volume) {
        warn(table.location("type"),
             "no volume group {} is made: each of its logical volumes becomes a partition, and "
             "they leave nothing of its minsize",
             name);
        return;
    }
    if (!seen_.insert("volume group " + name).second) {
        throw error_at(table, "name", "duplicate volume group {}", name);
    }
    if (has_logical_volumes) {
        warn(table.location("type"),
             "the volume group {} has no logical volumes at first: each of them becomes a "
             "partition, and the group gets {} MiB, which they leave of its minsize",
             name, size / volume_unit);
    }
    blueprint_.image.volumes.push_back({size / volume_unit * volume_unit, {}, {}, name});
}

void DiskTables::read_volume_group(const TableReader& table) {
    std::uint64_t left = read_size(table, "minsize");
    const std::string name = read_group_name(table);
    warn_of_partition_keys(table);
    const std::vector<TableReader> volumes = table.tables("logical_volumes");
    table.finish();
    for (const TableReader& volume : volumes) {
        table.attempt([&] {
            static_cast<void>(volume.string("name"));
            const std::uint64_t size = read_size(volume, "minsize");
            left -= std::min(left, partition_size(size));
            read_content(volume, size);
        });
    }
    add_group(table, name, left, !volumes.empty());
}

void DiskTables::read_btrfs(const TableReader& table) {
    const std::uint64_t size = read_size(table, "minsize");
    warn_of_partition_keys(table);
    const std::vector<TableReader> subvolumes = table.tables("subvolumes");
    table.finish();
    warn(table.location("type"),
         "it becomes ext4, not btrfs, which is not written without mounting it: devices mount "
         "subvolumes as directories of one file system, without snapshots or compression");
    if (subvolumes.empty()) {
        throw error_at(table.location(), "a partition without mountpoint has no use")
            .hinted("give it [[customizations.disk.partitions.subvolumes]]");
    }
    std::vector<VolumeMount> mounts;
    std::set<std::string> names;
    bool in_root = false;
    for (const TableReader& subvolume : subvolumes) {
        table.attempt([&] {
            const std::string name = subvolume.required_string("name");
            subvolume.finish({"mountpoint"});
            const std::string point = checked_mount_point(subvolume);
            take_mount_point(subvolume, point);
            if (!is_plain_name(name, "_.-+@:") || name.starts_with('.')) {
                throw error_at(subvolume, "name", "\"{}\" cannot be the name of a directory", name)
                    .hinted("letters, digits and _ . - + @ :");
            }
            if (!names.insert(name).second) {
                throw error_at(subvolume, "name", "duplicate subvolume {}", name);
            }
            in_root = in_root || point == "/";
            if (point != "/" && !is_within_system(subvolume, point, 0)) {
                mounts.push_back({point, name});
            }
        });
    }
    if (in_root || mounts.empty()) {
        // What is not mounted is in the root file system, as it would be in the same btrfs.
        blueprint_.image.least.rootfs += size;
    } else {
        add_volume(size, {}, std::move(mounts));
    }
}

void DiskTables::read_partition(const TableReader& table) {
    const std::string type = table.string("type", "plain");
    if (type == "lvm") {
        read_volume_group(table);
    } else if (type == "btrfs") {
        read_btrfs(table);
    } else if (type == "plain") {
        read_plain(table);
    } else {
        throw error_at(table, "type", "a disk image has no partition of type \"{}\"", type)
            .hinted("plain, lvm or btrfs");
    }
}

void DiskTables::read_disk(const TableReader& table) {
    blueprint_.image.least.disk = read_size(table, "minsize");
    const std::string type = table.string("type", "gpt");
    if (type != "gpt") {
        table.note(error_at(table, "type", "the partition table of a disk image is gpt"));
    }
    table.each_table("partitions", [&](const TableReader& each) { read_partition(each); });
    table.finish();
}

void read_partitioning_mode(const TableReader& table) {
    const std::string mode = table.string("partitioning_mode");
    // With auto-lvm, which is the default, a disk that has no other file systems has no volumes.
    if (!mode.empty() && mode != "raw" && mode != "auto-lvm" && mode != "default") {
        table.note(error_at(table, "partitioning_mode",
                            "a disk image has plain partitions, not \"{}\"", mode)
                       .hinted(R"(set it to "raw", or remove it)"));
    }
}

}  // namespace

void read_disk_customizations(const TableReader& table, Blueprint& blueprint) {
    DiskTables tables(blueprint);
    table.each_table("filesystem",
                     [&](const TableReader& file_system) { tables.read_file_system(file_system); });
    if (const auto disk = table.table("disk")) {
        table.attempt([&] { tables.read_disk(*disk); });
        if (table.has("filesystem")) {
            table.note(error_at(table, "disk",
                                "give either customizations.filesystem or customizations.disk"));
        }
    }
    read_partitioning_mode(table);
}

}  // namespace edgegpu
