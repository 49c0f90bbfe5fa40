#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "disk/disk.hpp"

namespace edgegpu {

/// A part of a file, in bytes.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool operator==(const ByteRange&) const = default;
};

/// Everything of a raw image that a disk has to get, in order and with gaps between, in blocks of
/// 4 KiB: partition tables, the partitions of boot loaders, of ext4 file systems all blocks that
/// are in use, and of an encrypted partition its header and all blocks that are no holes. Blocks of
/// zeros are among them, such as those of inode tables, which are holes in the file: a disk may
/// have something else there. `path` is what write_disk wrote, and is not changed. Throws Error.
[[nodiscard]] std::vector<ByteRange> used_ranges(const std::filesystem::path& path,
                                                 const Disk& disk);

}  // namespace edgegpu
