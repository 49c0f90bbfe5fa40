/// What mounting an ext4 file system would show, for tests that may not mount: copies everything in
/// it to a directory, with owners, modes, times, extended attributes and hard links.
///
/// ext4_extract IMAGE DIRECTORY
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ext2fs/ext2fs.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace {

void require(bool good, const std::string& what) {
    if (!good) {
        throw std::runtime_error(what + ": " + std::strerror(errno));
    }
}

void require_ext2(errcode_t code, const std::string& what) {
    if (code != 0) {
        throw std::runtime_error(what + ": error " + std::to_string(code) + " of libext2fs");
    }
}

using Names = std::vector<std::pair<std::string, ext2_ino_t>>;

int add_name(ext2_ino_t, int, ext2_dir_entry* entry, int, int, char*, void* names) {
    const std::string name(entry->name, static_cast<std::size_t>(ext2fs_dirent_name_len(entry)));
    if (name != "." && name != "..") {
        static_cast<Names*>(names)->emplace_back(name, entry->inode);
    }
    return 0;
}

int set_attribute(char* name, char* value, size_t size, void* path) {
    const auto& target = *static_cast<std::string*>(path);
    require(::lsetxattr(target.c_str(), name, value, size, 0) == 0, target + ": " + name);
    return 0;
}

class Extraction {
public:
    explicit Extraction(ext2_filsys fs) : fs_(fs) {}

    void directory(ext2_ino_t number, const std::string& path) {
        Names names;
        require_ext2(ext2fs_dir_iterate2(fs_, number, 0, nullptr, add_name, &names), path);
        for (const auto& [name, inode] : names) {
            node(inode, path + "/" + name);
        }
    }

    void finish(ext2_ino_t number, const ext2_inode_large& inode, std::string path) {
        ext2_inode small{};
        std::memcpy(&small, &inode, sizeof(small));
        require(::lchown(path.c_str(), inode_uid(small), inode_gid(small)) == 0, path);
        if (!LINUX_S_ISLNK(inode.i_mode)) {
            require(::chmod(path.c_str(), inode.i_mode & 07777U) == 0, path);
        }
        ext2_xattr_handle* handle = nullptr;
        require_ext2(ext2fs_xattrs_open(fs_, number, &handle), path);
        require_ext2(ext2fs_xattrs_read(handle), path);
        require_ext2(ext2fs_xattrs_iterate(handle, set_attribute, &path), path);
        require_ext2(ext2fs_xattrs_close(&handle), path);
        const timespec time{static_cast<time_t>(static_cast<int>(inode.i_mtime)), 0};
        const timespec times[2] = {time, time};
        require(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0, path);
    }

    ext2_inode_large inode_of(ext2_ino_t number) {
        ext2_inode_large inode{};
        require_ext2(ext2fs_read_inode_full(fs_, number, reinterpret_cast<ext2_inode*>(&inode),
                                            sizeof(inode)),
                     "inode");
        return inode;
    }

private:
    std::string content(ext2_ino_t number, ext2_inode_large& inode, const std::string& path) {
        std::string bytes(EXT2_I_SIZE(&inode), '\0');
        if (LINUX_S_ISLNK(inode.i_mode) && bytes.size() < sizeof(inode.i_block)) {
            return {reinterpret_cast<const char*>(inode.i_block), bytes.size()};
        }
        ext2_file_t file = nullptr;
        require_ext2(ext2fs_file_open(fs_, number, 0, &file), path);
        std::size_t have = 0;
        while (have < bytes.size()) {
            unsigned got = 0;
            const std::size_t wanted = std::min<std::size_t>(bytes.size() - have, 1U << 30U);
            require_ext2(
                ext2fs_file_read(file, bytes.data() + have, static_cast<unsigned>(wanted), &got),
                path);
            if (got == 0) {
                throw std::runtime_error(path + ": shorter than its size");
            }
            have += got;
        }
        require_ext2(ext2fs_file_close(file), path);
        return bytes;
    }

    void node(ext2_ino_t number, const std::string& path) {
        if (const auto first = linked_.find(number); first != linked_.end()) {
            require(::link(first->second.c_str(), path.c_str()) == 0, path);
            return;
        }
        ext2_inode_large inode = inode_of(number);
        if (LINUX_S_ISDIR(inode.i_mode)) {
            require(::mkdir(path.c_str(), 0700) == 0, path);
            directory(number, path);
        } else if (LINUX_S_ISLNK(inode.i_mode)) {
            require(::symlink(content(number, inode, path).c_str(), path.c_str()) == 0, path);
        } else {
            std::ofstream out(path, std::ios::binary);
            out << content(number, inode, path);
            out.close();
            require(out.good(), path);
        }
        if (inode.i_links_count > 1 && !LINUX_S_ISDIR(inode.i_mode)) {
            linked_.emplace(number, path);
        }
        finish(number, inode, path);
    }

    ext2_filsys fs_;
    std::map<ext2_ino_t, std::string> linked_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("ext4_extract IMAGE DIRECTORY\n", stderr);
        return 2;
    }
    try {
        ext2_filsys fs = nullptr;
        require_ext2(ext2fs_open(arguments[1], EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs),
                     arguments[1]);
        Extraction extraction(fs);
        extraction.directory(EXT2_ROOT_INO, arguments[2]);
        extraction.finish(EXT2_ROOT_INO, extraction.inode_of(EXT2_ROOT_INO), arguments[2]);
        ext2fs_close(fs);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: %s\n", failure.what());
        return 1;
    }
    return 0;
}
