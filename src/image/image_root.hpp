#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>

#include "support/handles.hpp"

namespace edgegpu {

/// Owner, mode and capabilities of an object, as they are to be on disk.
struct FileAttributes {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// permission bits with setuid, setgid and sticky (07777)
    unsigned mode = 0;
    /// raw value of security.capability (struct vfs_cap_data), or empty
    std::string capabilities;
};

/// Whether a symbolic link at the end of a path is followed. Links on the way to it always are.
enum class LastLink { followed, not_followed };

/// A directory that programs of an image run in or wrote, and the only way in which the builder
/// touches what is below it. Its paths are those that the image sees ("/usr/bin/bash"); every
/// symbolic link on the way is followed as it is in there, with this directory as the root:
/// openat2(2) with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS. No link, `..` or name that a package
/// left leads out, and no fifo, socket or device is ever opened. All errors name the image's path;
/// one that no program could name (4,096 bytes, a component of 256, a NUL) is an error.
class ImageRoot {
public:
    /// Opens the directory itself, which is the builder's own and no link. Throws Error.
    explicit ImageRoot(const std::filesystem::path& directory);

    /// What lies at `path`, or nothing. A missing or unfit parent (a file) is nothing as well.
    [[nodiscard]] std::optional<struct stat> status(std::string_view path,
                                                    LastLink last = LastLink::not_followed) const;
    /// Whether there is a regular file (links followed).
    [[nodiscard]] bool has_file(std::string_view path) const;
    /// Whether there is a directory (links followed).
    [[nodiscard]] bool has_directory(std::string_view path) const;

    /// `path` with every link on the way (and the last, if `last` says so) replaced by where it
    /// leads, as an absolute path of the image; the rest as it is where a component does not exist.
    /// What it returns holds as long as no program runs in the directory. Throws Error on a loop.
    [[nodiscard]] std::string resolve(std::string_view path,
                                      LastLink last = LastLink::followed) const;
    /// The target of the link at `path`. Throws Error if there is none.
    [[nodiscard]] std::string read_link(std::string_view path) const;

    /// The regular file at `path`, open for reading. Throws Error for everything else.
    [[nodiscard]] Fd open_file(std::string_view path, LastLink last = LastLink::followed) const;
    /// The object at `path`, opened with O_PATH: to be mounted, or mounted on.
    [[nodiscard]] Fd open_path(std::string_view path, LastLink last = LastLink::followed) const;
    /// The content of the regular file at `path`, of at most `limit` bytes. Throws Error for
    /// everything else.
    [[nodiscard]] std::string read(std::string_view path, std::uint64_t limit = 1ULL << 30U,
                                   LastLink last = LastLink::followed) const;

    /// Makes the directory `path` and its parents, where missing, as root:root with `mode`.
    void make_directories(std::string_view path, unsigned mode = 0755) const;
    /// Makes one directory; one that is there already keeps its content. Gives it the attributes.
    void make_directory(std::string_view path, const FileAttributes& attributes) const;
    /// Writes a file under a temporary name and renames it to `path`, replacing a file or link
    /// there (never following it).
    void write(std::string_view path, std::string_view content,
               const FileAttributes& attributes) const;
    /// The same with the content of an open file, copied inside the kernel where possible.
    void copy_in(std::string_view path, int source, const FileAttributes& attributes) const;
    /// Makes a link at `path`, which must be absent.
    void make_link(std::string_view path, const std::string& target, std::uint32_t uid = 0,
                   std::uint32_t gid = 0) const;
    /// Makes a fifo, socket or whiteout (a character device 0:0) at `path`, which must be absent.
    /// `type` is S_IFIFO, S_IFSOCK or S_IFCHR.
    void make_special(std::string_view path, unsigned type, const FileAttributes& attributes) const;
    /// Makes the builder's file `source` appear at `path`, which must be absent, as a hard link.
    /// False where the file system has no more links for it.
    [[nodiscard]] bool link_in(std::string_view path, const std::filesystem::path& source) const;
    /// Gives the object at `path` (a link itself, not where it leads) owner, mode and, to a regular
    /// file, capabilities. Nothing where there is no such object.
    void set_attributes(std::string_view path, const FileAttributes& attributes) const;
    /// An extended attribute of the object at `path` itself, or empty.
    [[nodiscard]] std::string attribute(std::string_view path, const char* name) const;
    /// Sets an extended attribute of the file or directory at `path` itself.
    void set_attribute(std::string_view path, const char* name, const std::string& value) const;
    /// Removes the object at `path` and, of a directory, all below it. No link is followed at the
    /// end or below. Nothing where there is no such object.
    void remove(std::string_view path) const;

    /// Names in the directory at `path`, sorted. Throws Error if it is none.
    [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
    /// Calls `visit(path, status)` for everything below the directory at `path`, parents first, in
    /// the order of names; no link is followed. Throws Error for a path of 4,096 bytes or more,
    /// which no program could name.
    void walk(std::string_view path,
              const std::function<void(const std::string&, const struct stat&)>& visit) const;

private:
    /// An open parent directory and the last component of a path in it.
    struct Place {
        Fd parent;
        std::string name;
    };
    [[nodiscard]] Place place_of(std::string_view path) const;

    Fd root_;
};

/// Makes a directory of the builder, and its parents, that programs of an image are to write to
/// through a bind: the image's root owns it.
void make_writable_directory(const std::filesystem::path& path);

}  // namespace edgegpu
