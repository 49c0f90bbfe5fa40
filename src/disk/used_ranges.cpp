#include "disk/used_ranges.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

#include "disk/ext4/ext4_image.hpp"
#include "disk/luks.hpp"
#include "disk/partitions.hpp"
#include "disk/volumes.hpp"
#include "support/error.hpp"
#include "support/files/file_content.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

class Ranges {
public:
    void add(std::uint64_t offset, std::uint64_t size) {
        if (size == 0) {
            return;
        }
        if (!ranges_.empty() && ranges_.back().offset + ranges_.back().size == offset) {
            ranges_.back().size += size;
        } else {
            ranges_.push_back({offset, size});
        }
    }
    [[nodiscard]] std::vector<ByteRange> take() { return std::move(ranges_); }

private:
    std::vector<ByteRange> ranges_;
};

void add_used_blocks(const std::filesystem::path& path, const Partition& partition,
                     Ranges& ranges) {
    Ext4Format format;
    format.offset = partition.offset;
    const Ext4Handle fs = open_ext4(path, format);
    const blk64_t last = ext2fs_blocks_count(fs->super) - 1;
    blk64_t next = fs->super->s_first_data_block;
    while (next <= last) {
        blk64_t first = 0;
        const errcode_t none =
            ext2fs_find_first_set_block_bitmap2(fs->block_map, next, last, &first);
        if (none == ENOENT) {
            return;
        }
        check_ext4("the block bitmap", none);
        blk64_t end = last + 1;
        const errcode_t to_the_end =
            ext2fs_find_first_zero_block_bitmap2(fs->block_map, first, last, &end);
        if (to_the_end == ENOENT) {
            end = last + 1;
        } else {
            check_ext4("the block bitmap", to_the_end);
        }
        ranges.add(partition.offset + first * ext4_block, (end - first) * ext4_block);
        next = end;
    }
}

/// Its header, of which zeros are a part, and what is not a hole behind that: what the file system
/// uses cannot be read any more, and encrypted blocks are never zeros.
void add_encrypted(const std::filesystem::path& path, const Partition& partition, Ranges& ranges) {
    ranges.add(partition.offset, luks_header_size);
    const Fd file = open_to_read(path);
    const std::uint64_t end = partition.offset + partition.size;
    for (std::uint64_t next = partition.offset + luks_header_size; next < end;) {
        const off_t data = ::lseek(file.get(), static_cast<off_t>(next), SEEK_DATA);
        if (data < 0 && errno == ENXIO) {
            return;
        }
        const off_t hole = data < 0 ? data : ::lseek(file.get(), data, SEEK_HOLE);
        if (hole < 0) {
            throw errno_error(path.string(), errno);
        }
        const std::uint64_t first = static_cast<std::uint64_t>(data) / ext4_block * ext4_block;
        if (first >= end) {
            return;
        }
        const std::uint64_t last = std::min(
            end, (static_cast<std::uint64_t>(hole) + ext4_block - 1) / ext4_block * ext4_block);
        ranges.add(first, last - first);
        next = last;
    }
}

}  // namespace

std::vector<ByteRange> used_ranges(const std::filesystem::path& path, const Disk& disk) {
    Ranges ranges;
    ranges.add(0, disk.partitions.front().offset);
    for (const Partition& partition : disk.partitions) {
        if (partition.use == VolumeUse::swap) {
            ranges.add(partition.offset, swap_header);
        } else if (partition.use == VolumeUse::group) {
            ranges.add(partition.offset, empty_group);
        } else if (!partition.luks_uuid.empty()) {
            add_encrypted(path, partition, ranges);
        } else if (partition.name == "boot" || partition.name == "root" ||
                   is_volume(partition.name)) {
            add_used_blocks(path, partition, ranges);
        } else {
            ranges.add(partition.offset, partition.size);
        }
    }
    const Partition& last = disk.partitions.back();
    ranges.add(last.offset + last.size, disk.size - last.offset - last.size);
    return ranges.take();
}

}  // namespace edgegpu
