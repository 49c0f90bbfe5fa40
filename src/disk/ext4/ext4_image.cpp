#include "disk/ext4/ext4_image.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <et/com_err.h>
#include <fmt/format.h>

#include "execution/process.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;
constexpr std::uint64_t bytes_per_inode = 16384;
constexpr std::uint64_t inode_size = 256;

/// What GRUB 2.06 and the kernel of RHEL 8 read. All else is off, whatever the version of mke2fs
/// and its configuration turn on: metadata_csum_seed and orphan_file above all.
constexpr std::string_view features =
    "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,"
    "large_file,huge_file,dir_nlink,extra_isize,metadata_csum";

/// mke2fs's own choice, in MiB.
std::uint64_t journal_size(std::uint64_t size) {
    if (size < 128 * mebibyte) {
        return 4;
    }
    if (size < 1024 * mebibyte) {
        return 16;
    }
    return size < 2048 * mebibyte ? 32 : 64;
}

/// What a file system of `size` bytes has for files, with some reserve for what mke2fs rounds up.
struct Ext4Room {
    std::uint64_t blocks = 0;
    std::uint64_t inodes = 0;
};

Ext4Room room_of(std::uint64_t size) {
    const std::uint64_t groups = size / (128 * mebibyte) + 1;
    const std::uint64_t inodes = size / bytes_per_inode;
    // Superblocks with descriptors and those reserved for growth, two bitmaps of each group,
    // lost+found.
    const std::uint64_t descriptors = 1030 + groups / 64;
    const std::uint64_t copies = std::min<std::uint64_t>(groups, 8);
    const std::uint64_t overhead = journal_size(size) * mebibyte + inodes * inode_size +
                                   groups * 2 * ext4_block + copies * descriptors * ext4_block +
                                   16 * ext4_block;
    return {size > overhead ? (size - overhead) / ext4_block : 0, inodes > 16 ? inodes - 16 : 0};
}

/// Bytes of a directory's block that an entry takes.
std::size_t entry_size(std::size_t name) {
    return (8 + name + 3) / 4 * 4;
}

}  // namespace

std::uint64_t ext4_size_for(std::uint64_t blocks, std::uint64_t inodes) {
    std::uint64_t size = std::max<std::uint64_t>(16 * mebibyte, blocks * ext4_block);
    size = (size + mebibyte - 1) / mebibyte * mebibyte;
    while (room_of(size).blocks < blocks || room_of(size).inodes < inodes) {
        size += mebibyte;
    }
    return size;
}

void make_ext4(const Context& ctx, const std::filesystem::path& disk, const Ext4Format& format) {
    ProcessRequest request;
    request.argv = {"mke2fs",
                    "-q",
                    "-F",
                    "-b",
                    std::to_string(ext4_block),
                    "-I",
                    std::to_string(inode_size),
                    "-i",
                    std::to_string(bytes_per_inode),
                    "-m",
                    "0",
                    "-J",
                    fmt::format("size={}", journal_size(format.size)),
                    "-O",
                    std::string(features),
                    "-U",
                    format.uuid,
                    "-L",
                    format.label,
                    "-E",
                    fmt::format("hash_seed={},offset={},root_owner=0:0,assume_storage_prezeroed=1,"
                                "nodiscard",
                                format.hash_seed, format.offset),
                    disk.string(),
                    fmt::format("{}k", format.size / 1024)};
    request.env = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC",
                   // Not the builder's /etc/mke2fs.conf.
                   "MKE2FS_CONFIG=/dev/null", fmt::format("E2FSPROGS_FAKE_TIME={}", format.time)};
    request.purpose = "an empty ext4 file system";
    const ProcessResult result = run_process(ctx, request);
    if (result.status != 0) {
        throw error("mke2fs failed with status {}: {}", result.status, trim(result.output))
            .hinted("mke2fs comes with e2fsprogs 1.47 or later");
    }
}

void abandon_ext4(ext2_filsys fs) noexcept {
    ext2fs_free(fs);
}

Error ext4_error(std::string_view what, errcode_t code) {
    return error("{}: {}", what, error_message(code));
}

Error ext4_full(ext2_filsys fs, std::string_view name, std::uint64_t bytes) {
    const std::uint64_t left = ext2fs_free_blocks_count(fs->super) * ext4_block;
    if (fs->super->s_free_inodes_count == 0) {
        return error("the file system is full: no inode is left for {}", name);
    }
    return error("the file system is full: {} needs {} bytes, {} are left: {} are missing", name,
                 bytes, left, bytes > left ? bytes - left : 0);
}

Ext4Handle open_ext4(const std::filesystem::path& disk, const Ext4Format& format) {
    static const bool errors_have_texts = [] {
        initialize_ext2_error_table();
        return true;
    }();
    static_cast<void>(errors_have_texts);
    ext2_filsys opened = nullptr;
    const std::string options = fmt::format("offset={}", format.offset);
    check_ext4(disk.string(),
               ext2fs_open2(disk.c_str(), options.c_str(), EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0,
                            unix_io_manager, &opened));
    Ext4Handle fs(opened);
    check_ext4(disk.string(), ext2fs_read_bitmaps(fs.get()));
    // Time of everything that libext2fs writes; 0 would be the present.
    fs->now = std::max<std::int64_t>(1, format.time);
    // The copies of superblock and group descriptors are written as well.
    fs->flags &= ~EXT2_FLAG_MASTER_SB_ONLY;
    return fs;
}

void allocate_ext4_blocks(
    ext2_filsys fs, Inode number, ext2_inode_large& inode, std::uint64_t count,
    std::string_view name, std::uint64_t& goal,
    const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& place) {
    constexpr std::uint64_t longest = EXT_INIT_MAX_LEN;
    if (ext2fs_free_blocks_count(fs->super) < count) {
        throw ext4_full(fs, name, count * ext4_block);
    }
    ext2_inode* small = reinterpret_cast<ext2_inode*>(&inode);
    inode.i_flags |= EXT4_EXTENTS_FL;
    ext2_extent_handle_t opened = nullptr;
    check_ext4(name, ext2fs_extent_open2(fs, number, small, &opened));
    const Handle<ext2_extent_handle, ext2fs_extent_free> extents(opened);
    std::uint64_t done = 0;
    while (done < count) {
        blk64_t first = 0;
        blk64_t length = 0;
        const errcode_t found = ext2fs_new_range(fs, 0, goal, std::min(count - done, longest),
                                                 nullptr, &first, &length);
        if (found != 0) {
            throw ext4_full(fs, name, (count - done) * ext4_block);
        }
        ext2fs_block_alloc_stats_range(fs, first, static_cast<blk_t>(length), +1);
        check_ext4(name, ext2fs_iblk_add_blocks(fs, small, length));
        ext2fs_extent extent{};
        extent.e_pblk = first;
        extent.e_lblk = done;
        extent.e_len = static_cast<__u32>(length);
        check_ext4(name, ext2fs_extent_insert(extents.get(), EXT2_EXTENT_INSERT_AFTER, &extent));
        check_ext4(name, ext2fs_extent_fix_parents(extents.get()));
        place(first, done, length);
        done += length;
        goal = first + length;
    }
}

std::vector<std::string> directory_blocks(ext2_filsys fs, Inode number,
                                          const OpenDirectory& directory) {
    constexpr std::size_t usable = ext4_block - sizeof(ext2_dir_entry_tail);
    std::vector<std::string> blocks(1, std::string(ext4_block, '\0'));
    std::size_t used = 0;
    ext2_dir_entry_2* last = nullptr;
    const auto add = [&](const std::string& name, Inode inode, int type) {
        const std::size_t size = entry_size(name.size());
        if (last != nullptr && used + size > usable) {
            last->rec_len = static_cast<__u16>(last->rec_len + usable - used);
            blocks.emplace_back(ext4_block, '\0');
            used = 0;
        }
        // The entries are aligned to 4 bytes in memory that is aligned to more.
        last = reinterpret_cast<ext2_dir_entry_2*>(blocks.back().data() + used);
        last->inode = inode;
        last->rec_len = static_cast<__u16>(size);
        last->name_len = static_cast<__u8>(name.size());
        last->file_type = static_cast<__u8>(type);
        std::memcpy(last->name, name.data(), name.size());
        used += size;
    };
    add(".", number, EXT2_FT_DIR);
    add("..", directory.parent, EXT2_FT_DIR);
    for (const DirectoryEntry& entry : directory.entries) {
        add(entry.name, entry.inode, entry.type);
    }
    last->rec_len = static_cast<__u16>(last->rec_len + usable - used);
    for (std::string& block : blocks) {
        ext2fs_initialize_dirent_tail(
            fs, reinterpret_cast<ext2_dir_entry_tail*>(block.data() + usable));
    }
    return blocks;
}

}  // namespace edgegpu
