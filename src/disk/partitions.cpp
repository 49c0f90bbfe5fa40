#include "disk/partitions.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "execution/process.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file_content.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Before the first partition, and behind the last one for the copy of the GPT.
constexpr std::uint64_t margin = mib;
constexpr std::uint64_t bios_size = mib;
constexpr std::uint64_t gibibyte = 1ULL << 30U;

struct PartitionType {
    std::string_view name;
    /// of the partition type, and the name that tools show
    std::string_view type;
    std::string_view label;
};

constexpr std::string_view linux_data = "0fc63daf-8483-4772-8e79-3d69d8477de4";
constexpr std::string_view linux_swap = "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f";
constexpr std::string_view linux_lvm = "e6d6d379-f507-44c2-a23c-238f2a3df928";

// /boot is Linux's file system of no purpose: if it had that of an extended boot loader partition,
// systemd would want to mount the EFI system partition at /efi on a BIOS, which no image has.
constexpr std::array<PartitionType, 4> partition_types{{
    {"bios", "21686148-6449-6e6f-744e-656564454649", "bios-boot"},
    {"esp", "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "efi-system"},
    {"boot", linux_data, "boot"},
    {"root", "4f68bce3-e8cd-4db1-96e7-fbcaf984b709", "root"},
}};

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t unit) {
    return (size + unit - 1) / unit * unit;
}

std::string_view volume_type(VolumeUse use) {
    switch (use) {
        case VolumeUse::file_system:
            return linux_data;
        case VolumeUse::swap:
            return linux_swap;
        case VolumeUse::group:
            return linux_lvm;
    }
    return linux_data;
}

std::string shown_mib(std::uint64_t size) {
    return fmt::format("{} MiB", rounded_up(size, mib) / mib);
}

}  // namespace

std::vector<Partition> plan_partitions(const DiskNeeds& needs, const DiskIdentity& identity,
                                       std::uint64_t size) {
    std::vector<Partition> partitions;
    std::uint64_t offset = margin;
    const auto add = [&](std::string_view name, std::uint64_t bytes,
                         VolumeUse use = VolumeUse::file_system) {
        Partition partition;
        partition.name = name;
        partition.offset = offset;
        partition.size = partition.content = rounded_up(bytes, mib);
        partition.uuid = partition_uuid(identity, name);
        partition.use = use;
        if (name == "esp") {
            partition.file_system_uuid = fat_volume_name(identity.fat_volume_id("file system esp"));
        } else if (name != "bios" && use != VolumeUse::group) {
            partition.file_system_uuid = identity.uuid(fmt::format("file system {}", name));
        }
        offset += partition.size;
        partitions.push_back(std::move(partition));
    };
    if (needs.bios) {
        add("bios", bios_size);
    }
    if (needs.esp != 0) {
        add("esp", needs.esp);
    }
    add("boot", needs.boot);
    for (const Volume& volume : needs.volumes) {
        add(volume.name(), volume.size, volume.use());
    }
    const std::uint64_t least = offset + rounded_up(needs.root_least, mib) + margin;
    if (size == smallest_size) {
        size = least;
    }
    if (size != 0 && size < least) {
        throw error(ErrorKind::usage, "a disk of {} is too small for this image: it needs {}",
                    shown_mib(size), shown_mib(least))
            .hinted(fmt::format("--size {}M is the least; leave it out for a disk that has room "
                                "for an update",
                                least / mib));
    }
    const std::uint64_t end =
        size == 0
            ? rounded_up(std::max(offset + needs.root_usual + margin, needs.disk_least), gibibyte)
            : size;
    add("root", (end - margin - offset) / mib * mib);
    return partitions;
}

std::uint64_t disk_size(const std::vector<Partition>& partitions) {
    return partitions.back().offset + partitions.back().size + margin;
}

const Partition* find_partition(const std::vector<Partition>& partitions, std::string_view name) {
    const auto found = std::ranges::find(partitions, name, &Partition::name);
    return found == partitions.end() ? nullptr : &*found;
}

void make_sparse_file(const std::filesystem::path& path, std::uint64_t size) {
    const Fd file = open_file(path, O_RDWR | O_CREAT | O_EXCL, 0666);
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) {
        throw write_error(path.parent_path().string(), path.string(), errno);
    }
}

bool is_volume(std::string_view name) {
    return std::ranges::find(partition_types, name, &PartitionType::name) == partition_types.end();
}

std::string volume_label(const std::string& name) {
    /// Of a GUID partition table: 36 UTF-16 characters.
    constexpr std::size_t longest = 36;
    constexpr std::size_t digits = 16;
    const std::string label = "edgegpu " + name;
    return label.size() <= longest ? label : "edgegpu " + sha256_hex(name).substr(0, digits);
}

std::string partition_uuid(const DiskIdentity& identity, std::string_view name) {
    return identity.uuid(fmt::format("partition {}", name));
}

std::string partition_script(const std::vector<Partition>& partitions,
                             const DiskIdentity& identity) {
    std::string script =
        fmt::format("label: gpt\nlabel-id: {}\nunit: sectors\nfirst-lba: {}\nlast-lba: {}\n\n",
                    identity.uuid("disk"), margin / sector_size,
                    (disk_size(partitions) - margin) / sector_size - 1);
    for (const Partition& partition : partitions) {
        const auto known = std::ranges::find(partition_types, partition.name, &PartitionType::name);
        const bool volume = known == partition_types.end();
        script += fmt::format("start={}, size={}, type={}, uuid={}, name=\"{}\"\n",
                              partition.offset / sector_size, partition.size / sector_size,
                              volume ? volume_type(partition.use) : known->type, partition.uuid,
                              volume ? volume_label(partition.name) : std::string(known->label));
    }
    return script;
}

void write_partition_table(const Context& ctx, const std::filesystem::path& disk,
                           const std::vector<Partition>& partitions, const DiskIdentity& identity) {
    ProcessRequest request;
    request.argv = {"sfdisk",    "--quiet",      "--no-reread", "--no-tell-kernel",
                    "--lock=no", "--wipe=never", disk.string()};
    request.input = partition_script(partitions, identity);
    request.purpose = "partition table";
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("{}: cannot write the partition table: {}", disk.string(),
                    fmt::join(last_lines(result.output, 3), "; "));
    }
}

}  // namespace edgegpu
