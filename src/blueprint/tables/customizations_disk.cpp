#include <array>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "blueprint/tables/customizations.hpp"
#include "blueprint/tables/tables.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

/// A file system of a disk image.
struct FileSystem {
    std::string_view mountpoint;
    std::string_view type;
    std::uint64_t DiskSizes::*least;
};

constexpr std::array<FileSystem, 3> file_systems{{
    {"/", "ext4", &DiskSizes::rootfs},
    {"/boot", "ext4", &DiskSizes::boot},
    {"/boot/efi", "vfat", &DiskSizes::esp},
}};

constexpr const char* what_there_is =
    "the file systems of a disk image are /, /boot and /boot/efi, and everything else is in /: "
    "remove this one and give / a minsize with room for it, or mount another disk with a .mount "
    "unit ([[systemd.units]])";

const FileSystem& file_system_at(const TableReader& table, std::string_view mountpoint) {
    for (const FileSystem& one : file_systems) {
        if (one.mountpoint == mountpoint) {
            return one;
        }
    }
    throw error_at(table.location("mountpoint"), "a disk image has no file system for {}",
                   mountpoint)
        .hinted(what_there_is);
}

/// The file systems that have been read, each at most once.
class LeastSizes {
public:
    explicit LeastSizes(DiskSizes& least) : least_(least) {}

    /// An element of an array, whose size is `size`.
    void add(const TableReader& table, const FileSystem& file_system, std::uint64_t size) {
        if (!seen_.insert(file_system.mountpoint).second) {
            throw error_at(table.location("mountpoint"), "duplicate file system {}",
                           file_system.mountpoint);
        }
        least_.*file_system.least = size;
    }

private:
    DiskSizes& least_;
    std::set<std::string_view> seen_;
};

/// An element of `filesystem`.
void read_file_system(const TableReader& table, LeastSizes& sizes) {
    // `size` is image builder's older name.
    const std::uint64_t size = read_size(table, table.has("minsize") ? "minsize" : "size");
    if (table.has("minsize") && table.has("size")) {
        table.note(error_at(table.location("size"),
                            "\"minsize\" and \"size\" are the same: remove "
                            "one of them"));
    }
    static_cast<void>(table.has("mountpoint"));
    table.finish();
    const std::string mountpoint = table.required_string("mountpoint");
    sizes.add(table, file_system_at(table, mountpoint), size);
}

/// Everything but plain partitions.
void refuse_other_type(const TableReader& table, const std::string& type) {
    if (type != "plain") {
        throw error_at(table.location("type"), "a disk image has no partition of type \"{}\"", type)
            .hinted(std::string("use plain partitions; ") + what_there_is);
    }
}

void read_partition(const TableReader& table, LeastSizes& sizes,
                    std::vector<std::string>& warnings) {
    refuse_other_type(table, table.string("type", "plain"));
    const std::uint64_t size = read_size(table, "minsize");
    const std::string type = table.string("fs_type");
    for (const char* key : {"label", "part_label", "part_type", "part_uuid"}) {
        if (table.has(key)) {
            warnings.push_back(
                fmt::format("{}: {} has no effect: edgegpu chooses labels, types and UUIDs of "
                            "partitions (docs/images.md)",
                            table.location(key).text(), table.full_name(key)));
        }
    }
    const std::string mountpoint = table.string("mountpoint");
    table.finish();
    if (mountpoint.empty()) {
        throw error_at(table.location(), "a disk image has no partition without mountpoint{}",
                       type == "swap" ? ", and none for swap" : "")
            .hinted(what_there_is);
    }
    const FileSystem& file_system = file_system_at(table, mountpoint);
    if (!type.empty() && type != file_system.type) {
        throw error_at(table.location("fs_type"),
                       "the file system {} of a disk image is {}, not {}", mountpoint,
                       file_system.type, type)
            .hinted(fmt::format("remove fs_type, or set it to \"{}\"", file_system.type));
    }
    sizes.add(table, file_system, size);
}

void read_disk(const TableReader& table, Blueprint& blueprint) {
    blueprint.image.least.disk = read_size(table, "minsize");
    const std::string type = table.string("type", "gpt");
    if (type != "gpt") {
        table.note(error_at(table.location("type"), "the partition table of a disk image is gpt"));
    }
    LeastSizes sizes(blueprint.image.least);
    for (const TableReader& partition : table.tables("partitions")) {
        table.attempt([&] { read_partition(partition, sizes, blueprint.warnings); });
    }
    table.finish();
}

void read_partitioning_mode(const TableReader& table) {
    const std::string mode = table.string("partitioning_mode");
    // With auto-lvm, which is the default, a disk that has no other file systems has no volumes.
    if (!mode.empty() && mode != "raw" && mode != "auto-lvm" && mode != "default") {
        table.note(error_at(table.location("partitioning_mode"),
                            "a disk image has plain partitions, not \"{}\"", mode)
                       .hinted(R"(set it to "raw", or remove it)"));
    }
}

}  // namespace

void read_disk_customizations(const TableReader& table, Blueprint& blueprint) {
    LeastSizes sizes(blueprint.image.least);
    for (const TableReader& file_system : table.tables("filesystem")) {
        table.attempt([&] { read_file_system(file_system, sizes); });
    }
    if (const auto disk = table.table("disk")) {
        table.attempt([&] { read_disk(*disk, blueprint); });
        if (table.has("filesystem")) {
            table.note(error_at(table.location("disk"),
                                "give either customizations.filesystem or customizations.disk"));
        }
    }
    read_partitioning_mode(table);
}

}  // namespace edgegpu
