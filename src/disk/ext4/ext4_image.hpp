#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ext2fs/ext2fs.h>

#include "disk/ext4/ext4.hpp"
#include "execution/context.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Bytes of a block of the file systems that Ext4Writer makes.
inline constexpr std::uint64_t ext4_block = 4096;

/// Makes an empty file system with mke2fs. Throws Error.
void make_ext4(const Context& ctx, const std::filesystem::path& disk, const Ext4Format& format);

/// Closes a file system without writing what is still in memory.
void abandon_ext4(ext2_filsys fs) noexcept;
using Ext4Handle = Handle<struct_ext2_filsys, abandon_ext4>;

/// Opens a file system for writing, with its bitmaps. Throws Error.
[[nodiscard]] Ext4Handle open_ext4(const std::filesystem::path& disk, const Ext4Format& format);

/// The Error of a call of libext2fs: "WHAT: message".
[[nodiscard]] Error ext4_error(std::string_view what, errcode_t code);

/// Throws ext4_error unless `code` is 0.
inline void check_ext4(std::string_view what, errcode_t code) {
    if (code != 0) {
        throw ext4_error(what, code);
    }
}

/// The Error for a file system that has no room for `bytes` more.
[[nodiscard]] Error ext4_full(ext2_filsys fs, std::string_view name, std::uint64_t bytes);

/// Takes `count` free blocks, in as few pieces as there can be, from block `goal` on, which is then
/// behind them. Makes them the content of an inode that has none, whose other fields are set in
/// `inode`. `place` is called for each piece: its first block, its first block of the content, its
/// length in blocks. Throws Error.
void allocate_ext4_blocks(
    ext2_filsys fs, Inode number, ext2_inode_large& inode, std::uint64_t count,
    std::string_view name, std::uint64_t& goal,
    const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& place);

/// A name in a directory.
struct DirectoryEntry {
    std::string name;
    Inode inode = 0;
    int type = EXT2_FT_UNKNOWN;
};

/// A directory on its way: it is written last, when all names are known.
struct OpenDirectory {
    Inode parent = 0;
    std::vector<DirectoryEntry> entries;
    std::set<std::string, std::less<>> names;
    /// directories in it
    unsigned directories = 0;
};

/// The blocks of a directory with these entries, one after another, without checksums.
[[nodiscard]] std::vector<std::string> directory_blocks(ext2_filsys fs, Inode number,
                                                        const OpenDirectory& directory);

}  // namespace edgegpu
