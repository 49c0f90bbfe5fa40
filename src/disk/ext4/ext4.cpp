#include "disk/ext4/ext4.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "disk/ext4/disk_write.hpp"
#include "disk/ext4/ext4_image.hpp"
#include "support/error.hpp"
#include "support/glib.hpp"
#include "support/handles.hpp"

namespace edgegpu {

namespace {

using XattrHandle =
    Handle<ext2_xattr_handle, [](ext2_xattr_handle* handle) { ext2fs_xattrs_close(&handle); }>;

constexpr unsigned node_permission_bits = 07777;
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_target = 4095;
/// What fits into the inode itself, with a NUL.
constexpr std::size_t short_target = sizeof(ext2_inode::i_block) - 1;
constexpr std::size_t chunk_size = 1U << 20U;

/// Seconds as an inode of ext4 has them: 32 bits with sign, and the two bits above them in the
/// field with the nanoseconds.
void set_time(__u32& seconds, __u32& extra, std::int64_t time) {
    seconds = static_cast<__u32>(time);
    const std::int64_t low = static_cast<std::int32_t>(seconds);
    extra = static_cast<__u32>((time - low) >> 32) & 3U;
}

bool is_zero(const char* data, std::size_t size) {
    return size == 0 || (data[0] == 0 && std::memcmp(data, data + 1, size - 1) == 0);
}

void check_name(std::string_view name) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos ||
        name.find('\0') != std::string_view::npos) {
        throw error("\"{}\" cannot be a name of a file", name);
    }
    if (name.size() > longest_name) {
        throw error("the name {} is too long: {} bytes, ext4 has at most {}", name, name.size(),
                    longest_name);
    }
}

}  // namespace

struct Ext4Writer::Impl {
    Ext4Handle fs;
    /// The disk once more: the content of files does not go through libext2fs, which would copy it.
    Fd file;
    std::filesystem::path disk;
    Ext4Format format;
    std::map<Inode, OpenDirectory> directories;
    std::map<Inode, unsigned> links;
    Inode lost_and_found = 0;
    std::uint64_t goal = 0;
    std::vector<char> chunk = std::vector<char>(chunk_size);

    OpenDirectory& directory(Inode number);
    ext2_inode_large read(Inode number);
    void write(Inode number, ext2_inode_large& inode);
    void fill(ext2_inode_large& inode, unsigned type, const NodeAttributes& attributes) const;
    Inode new_inode(Inode parent, std::string_view name, unsigned type);
    void add_entry(Inode parent, std::string_view name, Inode inode, int type);
    void put(std::uint64_t block, const char* data, std::size_t size);
    void write_content(Inode number, ext2_inode_large& inode, std::string_view name,
                       std::uint64_t size, const ContentReader& content);
    void write_xattrs(Inode number, std::string_view name,
                      const std::map<std::string, std::string>& attributes);
    void write_directory(Inode number, const OpenDirectory& directory);
};

OpenDirectory& Ext4Writer::Impl::directory(Inode number) {
    const auto found = directories.find(number);
    if (found == directories.end()) {
        throw error("inode {} is not a directory", number);
    }
    return found->second;
}

ext2_inode_large Ext4Writer::Impl::read(Inode number) {
    ext2_inode_large inode{};
    check_ext4("an inode",
               ext2fs_read_inode_full(fs.get(), number, reinterpret_cast<ext2_inode*>(&inode),
                                      sizeof(inode)));
    return inode;
}

void Ext4Writer::Impl::write(Inode number, ext2_inode_large& inode) {
    check_ext4("an inode",
               ext2fs_write_inode_full(fs.get(), number, reinterpret_cast<ext2_inode*>(&inode),
                                       sizeof(inode)));
}

void Ext4Writer::Impl::fill(ext2_inode_large& inode, unsigned type,
                            const NodeAttributes& attributes) const {
    inode.i_mode = static_cast<__u16>(type | (attributes.mode & node_permission_bits));
    inode.i_uid = static_cast<__u16>(attributes.uid);
    inode.osd2.linux2.l_i_uid_high = static_cast<__u16>(attributes.uid >> 16U);
    inode.i_gid = static_cast<__u16>(attributes.gid);
    inode.osd2.linux2.l_i_gid_high = static_cast<__u16>(attributes.gid >> 16U);
    inode.i_extra_isize = sizeof(ext2_inode_large) - EXT2_GOOD_OLD_INODE_SIZE;
    set_time(inode.i_atime, inode.i_atime_extra, format.time);
    set_time(inode.i_ctime, inode.i_ctime_extra, format.time);
    set_time(inode.i_crtime, inode.i_crtime_extra, format.time);
    set_time(inode.i_mtime, inode.i_mtime_extra, attributes.modified);
}

Inode Ext4Writer::Impl::new_inode(Inode parent, std::string_view name, unsigned type) {
    check_name(name);
    if (directory(parent).names.contains(name)) {
        throw error("there is a {} already", name);
    }
    ext2_ino_t number = 0;
    if (ext2fs_new_inode(fs.get(), parent, static_cast<int>(type), nullptr, &number) != 0) {
        throw ext4_full(fs.get(), name, 0);
    }
    ext2fs_inode_alloc_stats2(fs.get(), number, +1, type == LINUX_S_IFDIR ? 1 : 0);
    return number;
}

void Ext4Writer::Impl::add_entry(Inode parent, std::string_view name, Inode inode, int type) {
    OpenDirectory& into = directory(parent);
    into.names.emplace(name);
    into.entries.push_back({std::string(name), inode, type});
    into.directories += type == EXT2_FT_DIR ? 1 : 0;
}

void Ext4Writer::Impl::put(std::uint64_t block, const char* data, std::size_t size) {
    // The disk has zeros there already, as a hole.
    if (!is_zero(data, size)) {
        write_to_disk(file.get(), {data, size}, format.offset + block * ext4_block, disk);
    }
}

void Ext4Writer::Impl::write_content(Inode number, ext2_inode_large& inode, std::string_view name,
                                     std::uint64_t size, const ContentReader& content) {
    std::uint64_t left = size;
    const auto fill_chunk = [&](std::size_t wanted) {
        std::size_t have = 0;
        while (have < wanted) {
            const std::size_t got = content(chunk.data() + have, wanted - have);
            if (got == 0) {
                throw error("{}: the content ends {} bytes before the {} that it should have", name,
                            left - have, size);
            }
            have += got;
        }
        left -= wanted;
    };
    const auto write_piece = [&](std::uint64_t block, std::uint64_t, std::uint64_t length) {
        while (length > 0) {
            const std::uint64_t blocks = std::min(length, chunk_size / ext4_block);
            const std::size_t bytes = std::min<std::uint64_t>(left, blocks * ext4_block);
            fill_chunk(bytes);
            put(block, chunk.data(), bytes);
            block += blocks;
            length -= blocks;
        }
    };
    if (size > 0) {
        allocate_ext4_blocks(fs.get(), number, inode, (size + ext4_block - 1) / ext4_block, name,
                             goal, write_piece);
    }
    char beyond = 0;
    if (content(&beyond, 1) != 0) {
        throw error("{}: the content is longer than the {} bytes that it should have", name, size);
    }
}

void Ext4Writer::Impl::write_xattrs(Inode number, std::string_view name,
                                    const std::map<std::string, std::string>& attributes) {
    ext2_xattr_handle* opened = nullptr;
    check_ext4(name, ext2fs_xattrs_open(fs.get(), number, &opened));
    const XattrHandle handle(opened);
    check_ext4(name, ext2fs_xattrs_read(opened));
    for (const auto& [key, value] : attributes) {
        const errcode_t done = ext2fs_xattr_set(opened, key.c_str(), value.data(), value.size());
        if (done != 0) {
            throw ext4_error(fmt::format("{}: extended attribute {}", name, key), done);
        }
    }
    const errcode_t done = ext2fs_xattrs_write(opened);
    if (done == EXT2_ET_BLOCK_ALLOC_FAIL) {
        throw ext4_full(fs.get(), name, ext4_block);
    }
    check_ext4(fmt::format("{}: extended attributes", name), done);
}

void Ext4Writer::Impl::write_directory(Inode number, const OpenDirectory& directory) {
    std::vector<std::string> blocks = directory_blocks(fs.get(), number, directory);
    ext2_inode_large inode = read(number);
    const auto write_piece = [&](std::uint64_t block, std::uint64_t index, std::uint64_t length) {
        for (std::uint64_t i = 0; i < length; ++i) {
            check_ext4("a directory", ext2fs_write_dir_block4(fs.get(), block + i,
                                                              blocks[index + i].data(), 0, number));
        }
    };
    allocate_ext4_blocks(fs.get(), number, inode, blocks.size(), "a directory", goal, write_piece);
    const std::uint64_t bytes = blocks.size() * ext4_block;
    check_ext4("a directory", ext2fs_inode_size_set(fs.get(), reinterpret_cast<ext2_inode*>(&inode),
                                                    static_cast<ext2_off64_t>(bytes)));
    // With more directories than it can count, a directory has the number 1.
    const unsigned links_of = directory.directories + 2;
    inode.i_links_count = static_cast<__u16>(links_of >= max_ext4_links ? 1 : links_of);
    write(number, inode);
}

Ext4Writer::Ext4Writer(const Context& ctx, const std::filesystem::path& disk,
                       const Ext4Format& format)
    : impl_(std::make_unique<Impl>()) {
    make_ext4(ctx, disk, format);
    impl_->disk = disk;
    impl_->format = format;
    impl_->fs = open_ext4(disk, format);
    impl_->file = Fd(::open(disk.c_str(), O_WRONLY | O_CLOEXEC));
    if (!impl_->file) {
        throw errno_error(disk.string(), errno);
    }
    ext2_ino_t found = 0;
    check_ext4("lost+found",
               ext2fs_lookup(impl_->fs.get(), EXT2_ROOT_INO, "lost+found", 10, nullptr, &found));
    impl_->lost_and_found = found;
    // The root directory is written again with the others: mke2fs's block of it is freed, and
    // cleared, as free blocks have to be zeros (put).
    ext2_inode_large root = impl_->read(EXT2_ROOT_INO);
    blk64_t block = 0;
    check_ext4("the root directory",
               ext2fs_bmap2(impl_->fs.get(), EXT2_ROOT_INO, reinterpret_cast<ext2_inode*>(&root),
                            nullptr, 0, 0, nullptr, &block));
    write_to_disk(impl_->file.get(), std::string(ext4_block, '\0'),
                  format.offset + block * ext4_block, disk);
    check_ext4("the root directory",
               ext2fs_punch(impl_->fs.get(), EXT2_ROOT_INO, reinterpret_cast<ext2_inode*>(&root),
                            nullptr, 0, ~0ULL));
    std::memset(root.i_block, 0, sizeof(root.i_block));
    impl_->write(EXT2_ROOT_INO, root);
    impl_->directories[EXT2_ROOT_INO].parent = EXT2_ROOT_INO;
    impl_->add_entry(EXT2_ROOT_INO, "lost+found", found, EXT2_FT_DIR);
    set_attributes(EXT2_ROOT_INO, {0755, 0, 0, format.time, {}});
    set_attributes(found, {0700, 0, 0, format.time, {}});
}

Ext4Writer::~Ext4Writer() = default;

Inode Ext4Writer::root() const noexcept {
    return EXT2_ROOT_INO;
}

Inode Ext4Writer::lost_and_found() const noexcept {
    return impl_->lost_and_found;
}

std::uint64_t Ext4Writer::free_bytes() const noexcept {
    return ext2fs_free_blocks_count(impl_->fs->super) * ext4_block;
}

void Ext4Writer::set_attributes(Inode inode, const NodeAttributes& attributes) {
    ext2_inode_large node = impl_->read(inode);
    impl_->fill(node, node.i_mode & LINUX_S_IFMT, attributes);
    impl_->write(inode, node);
    impl_->write_xattrs(inode, fmt::format("inode {}", inode), attributes.attributes);
}

void Ext4Writer::set_immutable(Inode inode) {
    ext2_inode_large node = impl_->read(inode);
    node.i_flags |= EXT2_IMMUTABLE_FL;
    impl_->write(inode, node);
}

Inode Ext4Writer::add_directory(Inode parent, std::string_view name,
                                const NodeAttributes& attributes) {
    const Inode number = impl_->new_inode(parent, name, LINUX_S_IFDIR);
    ext2_inode_large inode{};
    impl_->fill(inode, LINUX_S_IFDIR, attributes);
    inode.i_links_count = 2;
    impl_->write(number, inode);
    impl_->write_xattrs(number, name, attributes.attributes);
    impl_->add_entry(parent, name, number, EXT2_FT_DIR);
    impl_->directories[number].parent = parent;
    return number;
}

Inode Ext4Writer::add_symlink(Inode parent, std::string_view name, std::string_view target,
                              const NodeAttributes& attributes) {
    if (target.empty() || target.size() > longest_target ||
        target.find('\0') != std::string_view::npos) {
        throw error("{}: \"{}\" cannot be the target of a symbolic link", name, target);
    }
    const Inode number = impl_->new_inode(parent, name, LINUX_S_IFLNK);
    ext2_inode_large inode{};
    impl_->fill(inode, LINUX_S_IFLNK, attributes);
    inode.i_links_count = 1;
    inode.i_size = static_cast<__u32>(target.size());
    if (target.size() <= short_target) {
        std::memcpy(inode.i_block, target.data(), target.size());
    } else {
        const std::string padded = std::string(target) + '\0';
        allocate_ext4_blocks(impl_->fs.get(), number, inode, 1, name, impl_->goal,
                             [&](std::uint64_t block, std::uint64_t, std::uint64_t) {
                                 impl_->put(block, padded.data(), padded.size());
                             });
    }
    impl_->write(number, inode);
    impl_->write_xattrs(number, name, attributes.attributes);
    impl_->add_entry(parent, name, number, EXT2_FT_SYMLINK);
    impl_->links[number] = 1;
    return number;
}

Inode Ext4Writer::add_file(Inode parent, std::string_view name, std::uint64_t size,
                           const ContentReader& content, const NodeAttributes& attributes) {
    const Inode number = impl_->new_inode(parent, name, LINUX_S_IFREG);
    ext2_inode_large inode{};
    impl_->fill(inode, LINUX_S_IFREG, attributes);
    inode.i_links_count = 1;
    inode.i_flags = EXT4_EXTENTS_FL;
    impl_->write_content(number, inode, name, size, content);
    if (size == 0) {
        // An empty file has an empty tree of extents.
        ext2_extent_handle_t extents = nullptr;
        check_ext4(name, ext2fs_extent_open2(impl_->fs.get(), number,
                                             reinterpret_cast<ext2_inode*>(&inode), &extents));
        ext2fs_extent_free(extents);
    }
    check_ext4(name, ext2fs_inode_size_set(impl_->fs.get(), reinterpret_cast<ext2_inode*>(&inode),
                                           static_cast<ext2_off64_t>(size)));
    impl_->write(number, inode);
    impl_->write_xattrs(number, name, attributes.attributes);
    impl_->add_entry(parent, name, number, EXT2_FT_REG_FILE);
    impl_->links[number] = 1;
    return number;
}

void Ext4Writer::add_link(Inode parent, std::string_view name, Inode inode) {
    check_name(name);
    const auto links = impl_->links.find(inode);
    if (links == impl_->links.end()) {
        throw error("{}: inode {} is neither a file nor a symbolic link", name, inode);
    }
    if (links->second >= max_ext4_links) {
        throw error("{}: the file has {} names, and ext4 allows no more", name, links->second);
    }
    if (impl_->directory(parent).names.contains(name)) {
        throw error("there is a {} already", name);
    }
    ext2_inode_large node = impl_->read(inode);
    node.i_links_count = static_cast<__u16>(++links->second);
    impl_->write(inode, node);
    impl_->add_entry(parent, name, inode,
                     LINUX_S_ISLNK(node.i_mode) ? EXT2_FT_SYMLINK : EXT2_FT_REG_FILE);
}

void Ext4Writer::finish() {
    for (const auto& [number, directory] : impl_->directories) {
        impl_->write_directory(number, directory);
    }
    // Synchronised once, with the rest of the disk, by who makes it.
    const errcode_t done = ext2fs_close2(impl_->fs.release(), EXT2_FLAG_FLUSH_NO_SYNC);
    if (done == ENOSPC || done == EDQUOT) {
        throw disk_full(impl_->disk.parent_path().string());
    }
    check_ext4(impl_->disk.string(), done);
    impl_->file.reset();
}

}  // namespace edgegpu
