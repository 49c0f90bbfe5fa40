#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "execution/context.hpp"

namespace edgegpu {

/// What is fixed about a new file system. With the same values and the same calls of the writer the
/// same bytes come out.
struct Ext4Format {
    /// where it lies in the disk's file, in bytes; a multiple of 1 MiB
    std::uint64_t offset = 0;
    /// its size in bytes; a multiple of 4096
    std::uint64_t size = 0;
    /// 8-4-4-4-12 hexadecimal digits
    std::string uuid;
    /// seed of the directory index's hash, in the same form
    std::string hash_seed;
    /// at most 16 bytes
    std::string label;
    /// Unix time of everything that has no time of its own: superblock, creation of inodes
    std::int64_t time = 0;
};

/// Owner, permissions, time and extended attributes of something in a file system.
struct NodeAttributes {
    /// permission bits (07777)
    unsigned mode = 0755;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// Unix time of the last modification
    std::int64_t modified = 0;
    /// full name ("security.selinux") → value, byte for byte as the kernel returns it
    std::map<std::string, std::string> attributes;
};

/// The number of an inode.
using Inode = std::uint32_t;

/// How many names a file of an ext4 file system can have.
inline constexpr unsigned max_ext4_links = 65000;

/// The least size in bytes, a multiple of 1 MiB, of a file system for `blocks` blocks of 4096 bytes
/// of files and directories and `inodes` inodes: with journal, inode tables and bitmaps.
[[nodiscard]] std::uint64_t ext4_size_for(std::uint64_t blocks, std::uint64_t inodes);

/// Reads up to `size` bytes of a file's content into `buffer`; returns how many, 0 at the end.
/// Throws Error.
using ContentReader = std::function<std::size_t(char* buffer, std::size_t size)>;

/// Writes an ext4 file system into a part of a disk's file with libext2fs: without mounting it,
/// without root, and with any owner, label and capability. The features are those that GRUB 2.06
/// and the kernels of RHEL 8 and later read.
class Ext4Writer {
public:
    /// Makes an empty file system in `disk`, which exists, is large enough, and has nothing but
    /// zeros there, with mke2fs. Throws Error.
    Ext4Writer(const Context& ctx, const std::filesystem::path& disk, const Ext4Format& format);
    Ext4Writer(const Ext4Writer&) = delete;
    Ext4Writer& operator=(const Ext4Writer&) = delete;
    /// Without `finish` the file system is not consistent.
    ~Ext4Writer();

    /// The file system's own root directory.
    [[nodiscard]] Inode root() const noexcept;
    /// The directory lost+found, which every ext4 file system has.
    [[nodiscard]] Inode lost_and_found() const noexcept;
    /// What files may still have, in bytes.
    [[nodiscard]] std::uint64_t free_bytes() const noexcept;
    /// Sets owner, mode, time and extended attributes of an inode.
    void set_attributes(Inode inode, const NodeAttributes& attributes);
    /// Nobody may change the inode, or the names in it (chattr +i).
    void set_immutable(Inode inode);

    /// Each of these adds an entry `name` to the directory `parent`, and returns its inode. They
    /// throw Error if the name exists or is not one, or if the file system is full; after that, the
    /// writer is of no use.
    Inode add_directory(Inode parent, std::string_view name, const NodeAttributes& attributes);
    Inode add_symlink(Inode parent, std::string_view name, std::string_view target,
                      const NodeAttributes& attributes);
    /// `size` is what the reader returns in all: Error otherwise.
    Inode add_file(Inode parent, std::string_view name, std::uint64_t size,
                   const ContentReader& content, const NodeAttributes& attributes);
    /// One more name of a file or symlink, of which there can be `max_ext4_links`.
    void add_link(Inode parent, std::string_view name, Inode inode);

    /// Writes everything that is still in memory. To be called once, last. Throws Error.
    void finish();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace edgegpu
