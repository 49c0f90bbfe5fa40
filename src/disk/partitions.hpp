#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "disk/disk.hpp"
#include "disk/identity.hpp"
#include "execution/context.hpp"

namespace edgegpu {

inline constexpr std::uint64_t sector_size = 512;
inline constexpr std::uint64_t mib = 1ULL << 20U;

/// What must fit on a disk, in bytes.
struct DiskNeeds {
    /// a partition for GRUB's core image, which a BIOS starts
    bool bios = false;
    /// of the EFI system partition; 0: none
    std::uint64_t esp = 0;
    std::uint64_t boot = 0;
    std::vector<Volume> volumes;
    /// the least for the root file system, and what it gets if no size is asked for
    std::uint64_t root_least = 0;
    std::uint64_t root_usual = 0;
    /// the least for the whole disk, if no size is asked for
    std::uint64_t disk_least = 0;
};

/// The partitions of a disk of `size` bytes (0: as large as needed, in whole GiB), in their order:
/// "bios", "esp", "boot", the volumes by their names, "root". Each begins at a whole MiB; root is
/// the last, up to the disk's end, so that it can grow with the disk. UUIDs are those of
/// `identity`; BIOS boot partitions have no file system. Throws ErrorKind::usage with the smallest
/// possible size if `size` is smaller.
[[nodiscard]] std::vector<Partition> plan_partitions(const DiskNeeds& needs,
                                                     const DiskIdentity& identity,
                                                     std::uint64_t size);

/// The size of a disk with these partitions: the last one ends 1 MiB before its end.
[[nodiscard]] std::uint64_t disk_size(const std::vector<Partition>& partitions);

/// The partition named `name`, or null.
[[nodiscard]] const Partition* find_partition(const std::vector<Partition>& partitions,
                                              std::string_view name);

/// Makes the new file `path` of `size` bytes that are all zero and take no space. Throws Error.
void make_sparse_file(const std::filesystem::path& path, std::uint64_t size);

/// Whether a partition is a volume's, by its name.
[[nodiscard]] bool is_volume(std::string_view name);

/// The name of a volume's partition in the partition table, by which another installation finds it:
/// "edgegpu /var/home"; a longer one has a digest of it.
[[nodiscard]] std::string volume_label(const std::string& name);

/// The UUID of the partition named `name`.
[[nodiscard]] std::string partition_uuid(const DiskIdentity& identity, std::string_view name);

/// The input of sfdisk(8) for a GPT with these partitions. Their types are those of the
/// Discoverable Partitions Specification (root: that of x86-64; volumes: Linux, as those for /var
/// are bound to one machine).
[[nodiscard]] std::string partition_script(const std::vector<Partition>& partitions,
                                           const DiskIdentity& identity);

/// Writes a GPT to `disk`, a file of the right size, with sfdisk. Throws Error.
void write_partition_table(const Context& ctx, const std::filesystem::path& disk,
                           const std::vector<Partition>& partitions, const DiskIdentity& identity);

}  // namespace edgegpu
