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

/// Owner, mode and capabilities to set on an object.
struct FileAttributes {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// permission bits with setuid, setgid and sticky (07777)
    unsigned mode = 0;
    /// raw value of security.capability (struct vfs_cap_data), or empty
    std::string capabilities;
};

/// Whether a symbolic link as the last component of a path is followed; links before it always are.
enum class LastLink { followed, not_followed };

/// A directory in which programs of an image run or that they wrote, and the only access of the
/// builder to its content. Paths are those of the image ("/usr/bin/bash"); all symbolic links are
/// resolved with this directory as the root: openat2(2) with RESOLVE_IN_ROOT and
/// RESOLVE_NO_MAGICLINKS. Nothing that a package contains (a link, `..`, a name) leads out of it,
/// and no fifo, socket or device is ever opened. All errors are Error with the image's path; paths
/// that system calls do not accept (4,096 bytes, a component of 256, a NUL) are errors.
class ImageRoot {
public:
    /// Opens the directory, which must be the builder's own and no link.
    explicit ImageRoot(const std::filesystem::path& directory);

    /// The status of the object at `path`; nothing if it does not exist, or a parent is missing or
    /// no directory.
    [[nodiscard]] std::optional<struct stat> status(std::string_view path,
                                                    LastLink last = LastLink::not_followed) const;
    /// Whether `path` is a regular file (links followed).
    [[nodiscard]] bool has_file(std::string_view path) const;
    /// Whether `path` is a directory (links followed).
    [[nodiscard]] bool has_directory(std::string_view path) const;

    /// `path` with all links resolved (the last component according to `last`), as an absolute path
    /// of the image; components that do not exist are kept. Valid only as long as no program runs
    /// in the directory. Throws Error for a loop.
    [[nodiscard]] std::string resolve(std::string_view path,
                                      LastLink last = LastLink::followed) const;
    /// The target of the link at `path`. Throws Error if there is none.
    [[nodiscard]] std::string read_link(std::string_view path) const;

    /// The regular file at `path`, open for reading. Throws Error for any other object.
    [[nodiscard]] Fd open_file(std::string_view path, LastLink last = LastLink::followed) const;
    /// The object at `path`, opened with O_PATH, for example as a source or target of mounts.
    [[nodiscard]] Fd open_path(std::string_view path, LastLink last = LastLink::followed) const;
    /// The content of the regular file at `path`. Throws Error for any other object, or for more
    /// than `limit` bytes.
    [[nodiscard]] std::string read(std::string_view path, std::uint64_t limit = 1ULL << 30U,
                                   LastLink last = LastLink::followed) const;

    /// Creates the directory `path` and missing parents as root:root with `mode`.
    void make_directories(std::string_view path, unsigned mode = 0755) const;
    /// Creates one directory, unless it exists, and sets its attributes.
    void make_directory(std::string_view path, const FileAttributes& attributes) const;
    /// Writes a file under a temporary name and renames it to `path`, replacing a file or link
    /// there (which is not followed).
    void write(std::string_view path, std::string_view content,
               const FileAttributes& attributes) const;
    /// The same with the content of an open file, copied by the kernel if possible.
    void copy_in(std::string_view path, int source, const FileAttributes& attributes) const;
    /// Creates a symbolic link at `path`, which must not exist.
    void make_link(std::string_view path, const std::string& target, std::uint32_t uid = 0,
                   std::uint32_t gid = 0) const;
    /// Creates a fifo, socket or whiteout (a character device 0:0) at `path`, which must not exist.
    /// `type` is S_IFIFO, S_IFSOCK or S_IFCHR.
    void make_special(std::string_view path, unsigned type, const FileAttributes& attributes) const;
    /// Creates a hard link to the builder's file `source` at `path`, which must not exist. False if
    /// the file has too many links or is on another file system.
    [[nodiscard]] bool link_in(std::string_view path, const std::filesystem::path& source) const;
    /// Sets owner, mode and, of a regular file, capabilities of the object at `path` itself (links
    /// are not followed). Does nothing if it does not exist.
    void set_attributes(std::string_view path, const FileAttributes& attributes) const;
    /// Sets the modification time of the object at `path` itself, in seconds since 1970.
    void set_time(std::string_view path, std::int64_t time) const;
    /// An extended attribute of the file or directory at `path` itself, or empty.
    [[nodiscard]] std::string attribute(std::string_view path, const char* name) const;
    /// Sets an extended attribute of the file or directory at `path` itself.
    void set_attribute(std::string_view path, const char* name, const std::string& value) const;
    /// Removes the object at `path` and everything below it, without following links. Does nothing
    /// if it does not exist.
    void remove(std::string_view path) const;

    /// Names in the directory at `path`, sorted. Throws Error if it is no directory.
    [[nodiscard]] std::vector<std::string> list(std::string_view path) const;
    /// Calls `visit(path, status)` for everything below the directory at `path`, parents first, in
    /// the order of names, without following links. Throws Error for a path of 4,096 bytes or more.
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

/// Creates a directory of the builder, and its parents, to which programs of an image can write
/// through a bind mount: it belongs to the image's root.
void make_writable_directory(const std::filesystem::path& path);

}  // namespace edgegpu
