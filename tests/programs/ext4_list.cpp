/// Lists what is in an ext4 file system, without mounting it: for comparisons of many file systems.
///
/// ext4_list [--as-boot-loader] IMAGE
///
/// The journal is not looked at. With --as-boot-loader, checksums of metadata are not, either, and
/// what cannot be read is an entry of type ! with nothing else: others can be read all the same.
///
/// Each entry is ten fields, each of which ends with a zero byte: path, type (f, d, l or ?), mode
/// in octal, owner, group, size, inode, the SHA-256 of a file's content or the target of a link,
/// and the names and values of the extended attributes, sorted, in hexadecimal; the last is a
/// newline.
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <ext2fs/ext2fs.h>

#include "support/files/digest.hpp"

namespace {

void require(errcode_t code, const std::string& what) {
    if (code != 0) {
        throw std::runtime_error(what + ": error " + std::to_string(code) + " of libext2fs");
    }
}

using Names = std::map<std::string, ext2_ino_t>;

int add_name(ext2_dir_entry* entry, int, int, char*, void* names) {
    const std::string name(entry->name, static_cast<std::size_t>(ext2fs_dirent_name_len(entry)));
    if (name != "." && name != "..") {
        static_cast<Names*>(names)->emplace(name, entry->inode);
    }
    return 0;
}

int add_attribute(char* name, char* value, size_t size, void* attributes) {
    static const char digits[] = "0123456789abcdef";
    std::string text = std::string(name) + "=";
    for (size_t i = 0; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(value[i]);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    static_cast<std::set<std::string>*>(attributes)->insert(text);
    return 0;
}

class Listing {
public:
    Listing(ext2_filsys fs, bool lenient) : fs_(fs), lenient_(lenient), buffer_(1U << 20U) {}

    void directory(ext2_ino_t number, const std::string& path, int depth) {
        if (depth > 100) {
            throw std::runtime_error(path + ": too deep");
        }
        Names names;
        require(ext2fs_dir_iterate(fs_, number, 0, nullptr, add_name, &names), path);
        for (const auto& [name, inode] : names) {
            const std::string below = path + "/" + name;
            try {
                entry(inode, below);
                if (describe(inode, below).type == 'd') {
                    directory(inode, below, depth + 1);
                }
            } catch (const std::exception&) {
                if (!lenient_) {
                    throw;
                }
                write(below + '\0' + '!' + std::string(8, '\0') + "\n" + '\0');
            }
        }
    }

private:
    struct Description {
        char type = '?';
        std::string fields;
    };

    /// What is the same for all names of an inode.
    const Description& describe(ext2_ino_t number, const std::string& path) {
        const auto found = known_.find(number);
        if (found != known_.end()) {
            return found->second;
        }
        ext2_inode_large inode{};
        require(ext2fs_read_inode_full(fs_, number, reinterpret_cast<ext2_inode*>(&inode),
                                       sizeof(inode)),
                path);
        ext2_inode small{};
        std::memcpy(&small, &inode, sizeof(small));
        Description described;
        std::string value;
        if (LINUX_S_ISDIR(inode.i_mode)) {
            described.type = 'd';
        } else if (LINUX_S_ISLNK(inode.i_mode)) {
            described.type = 'l';
            value = target(number, inode, path);
        } else if (LINUX_S_ISREG(inode.i_mode)) {
            described.type = 'f';
            value = digest(number, path);
        }
        const unsigned long long size = described.type == 'd' ? 0 : EXT2_I_SIZE(&inode);
        char mode[8];
        std::snprintf(mode, sizeof(mode), "%o", inode.i_mode & 07777U);
        for (const std::string& field :
             {std::string(mode), std::to_string(inode_uid(small)), std::to_string(inode_gid(small)),
              std::to_string(size), std::to_string(number)}) {
            described.fields += field + '\0';
        }
        described.fields += value + '\0' + attributes(number, path) + '\0';
        return known_.emplace(number, described).first->second;
    }

    void entry(ext2_ino_t number, const std::string& path) {
        const Description& described = describe(number, path);
        write(path + '\0' + described.type + '\0' + described.fields + "\n" + '\0');
    }

    static void write(const std::string& line) {
        if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()) {
            throw std::runtime_error("cannot write");
        }
    }

    std::string attributes(ext2_ino_t number, const std::string& path) {
        ext2_xattr_handle* handle = nullptr;
        std::set<std::string> found;
        require(ext2fs_xattrs_open(fs_, number, &handle), path);
        require(ext2fs_xattrs_read(handle), path + ": attributes");
        require(ext2fs_xattrs_iterate(handle, add_attribute, &found), path);
        require(ext2fs_xattrs_close(&handle), path);
        std::string text;
        for (const std::string& attribute : found) {
            text += attribute + ";";
        }
        return text;
    }

    std::string target(ext2_ino_t number, ext2_inode_large& inode, const std::string& path) {
        const std::size_t size = EXT2_I_SIZE(&inode);
        if (size < sizeof(inode.i_block)) {
            return {reinterpret_cast<const char*>(inode.i_block), size};
        }
        std::string text;
        read(number, path, [&](const char* data, unsigned got) { text.append(data, got); });
        return text;
    }

    std::string digest(ext2_ino_t number, const std::string& path) {
        edgegpu::Sha256 sha;
        read(number, path, [&](const char* data, unsigned got) { sha.update(data, got); });
        return sha.hex();
    }

    template <typename Take>
    void read(ext2_ino_t number, const std::string& path, Take take) {
        ext2_file_t file = nullptr;
        require(ext2fs_file_open(fs_, number, 0, &file), path);
        unsigned got = 0;
        do {
            require(
                ext2fs_file_read(file, buffer_.data(), static_cast<unsigned>(buffer_.size()), &got),
                path);
            take(buffer_.data(), got);
        } while (got != 0);
        require(ext2fs_file_close(file), path);
    }

    ext2_filsys fs_;
    bool lenient_;
    std::vector<char> buffer_;
    std::map<ext2_ino_t, Description> known_;
};

}  // namespace

int main(int count, char** arguments) {
    const bool lenient = count == 3 && std::string(arguments[1]) == "--as-boot-loader";
    if (count != 2 && !lenient) {
        std::fputs("ext4_list [--as-boot-loader] IMAGE\n", stderr);
        return 2;
    }
    const char* const image = arguments[count - 1];
    try {
        ext2_filsys fs = nullptr;
        const int flags = EXT2_FLAG_64BITS | (lenient ? EXT2_FLAG_IGNORE_CSUM_ERRORS : 0);
        require(ext2fs_open(image, flags, 0, 0, unix_io_manager, &fs), image);
        Listing(fs, lenient).directory(EXT2_ROOT_INO, "", 0);
        ext2fs_close(fs);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "error: %s\n", failure.what());
        return 1;
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
