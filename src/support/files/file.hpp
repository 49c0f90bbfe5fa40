#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include "support/handles.hpp"

namespace edgegpu {

/// What shows whether a file was written to: its size, and when its content and its attributes last
/// changed (nanoseconds since 1970). A program can set the former time, but not the latter.
struct FileState {
    std::uint64_t size = 0;
    std::int64_t modified = 0;
    std::int64_t changed = 0;
    bool operator==(const FileState&) const = default;
};

/// Whether an open file is in /proc, /sys or the like: the kernel makes its content whenever it is
/// read, and its size says nothing of it.
[[nodiscard]] bool is_made_by_kernel(int file) noexcept;

/// fstat(2); throws Error calling the object `name`.
[[nodiscard]] struct stat status_of(int file, const std::string& name);

/// The state of an open regular file; throws Error "NAME: not a regular file" for another object,
/// and "NAME: not a stored file" if `is_made_by_kernel`.
[[nodiscard]] FileState state_of(int file, const std::string& name);

/// "a fifo", "a directory": what an object with this st_mode is.
[[nodiscard]] std::string_view kind_of(unsigned mode);

/// openat2(2), for which glibc has no function, with O_CLOEXEC; again if a signal interrupts it, or
/// something is renamed on the way. Empty, with errno, if that is not possible.
[[nodiscard]] Fd open_at(int directory, const std::string& path, std::uint64_t flags,
                         std::uint64_t resolve, std::uint64_t mode = 0);

/// flock(2), again if a signal interrupts it. False, with errno, if that is not possible:
/// EWOULDBLOCK for LOCK_NB and a lock that somebody else holds.
[[nodiscard]] bool lock_file(int file, int operation) noexcept;

/// The path under which an open object can be opened again, with a position of its own, even if its
/// own path has changed: "/proc/self/fd/N". Valid while the descriptor is open.
[[nodiscard]] std::filesystem::path path_of_descriptor(int fd);

/// Opens for reading the regular file that `place` (a descriptor opened with O_PATH) refers to.
/// Throws Error calling it `name`, as `state_of` does.
[[nodiscard]] Fd open_regular(int place, const std::string& name);

/// Raises the limit of open files to what a build of thousands of packages needs, as far as the
/// hard limit allows. Not higher: there are programs that close every descriptor they could have.
void allow_open_files();

/// The whole content of a regular file of at most `limit` bytes. Throws Error naming the path, as
/// `state_of` does.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::uint64_t limit = 1ULL << 30U);

/// The same for an open regular file, from its beginning; errors call it `name`.
[[nodiscard]] std::string read_file(int fd, const std::string& name,
                                    std::uint64_t limit = 1ULL << 30U);

/// The beginning of an open regular file: all of it, or `most` bytes.
[[nodiscard]] std::string read_beginning(int fd, const std::string& name, std::uint64_t most);

/// Writes all of `data` at the descriptor's position, whatever interrupts it. False, with errno, if
/// that is not possible; part of the data may have been written then.
[[nodiscard]] bool write_all(int fd, std::string_view data) noexcept;

/// A file in memory (memfd_create(2)) that contains `data`, positioned at its beginning; for what
/// must be a file, and never blocks as a pipe does. Throws Error calling it "memory file for WHAT".
[[nodiscard]] Fd memory_file(const std::string& what, std::string_view data);

/// Copies an open file's content from its position to another file, inside the kernel if possible,
/// and no more than `limit` bytes. Errors call the target `name`.
void copy_content(int source, int target, const std::string& name,
                  std::uint64_t limit = UINT64_MAX);

/// Replaces `path` atomically with `content` and exactly the permission bits `mode`, whatever the
/// umask. With `durable` the file is synced before it gets its name. Throws Error naming the path,
/// also for what is neither a file nor a link; a partial file is never visible. The file has no
/// name before it is complete (O_TMPFILE), and is linked into place; only where a file is replaced,
/// or the file system has no such files, has it the name of a leftover meanwhile: see
/// remove_leftovers_of.
void write_file(const std::filesystem::path& path, std::string_view content, unsigned mode = 0644,
                bool durable = false);
/// The same for `name`, a single component, in the open directory. False, with errno, if that is
/// not possible.
[[nodiscard]] bool try_write_file_at(int directory, const std::string& name,
                                     std::string_view content, unsigned mode, bool durable);

/// Removes what write_file left of `path` in processes that were killed: files ".new-NAME.…" beside
/// it that nobody has locked. Where the cache is cleaned, they are removed with everything else.
void remove_leftovers_of(const std::filesystem::path& path);
/// The same for `name` in the open directory.
void remove_leftovers_at(int directory, const std::string& name);

/// Creates a directory and its parents with mode 0755. Throws Error naming the path.
void make_directories(const std::filesystem::path& path);

/// Deletes a tree, even if it has read-only directories or is deeper than a path can be long. Does
/// not follow links. No error if absent.
void remove_tree(const std::filesystem::path& path);
/// The same for `name`, a single component, in the open directory `parent`; errors call it `shown`.
void remove_at(int parent, const std::string& name, const std::string& shown);

/// Whether the path is a file of this size; not through a link.
[[nodiscard]] bool is_file_of_size(const std::filesystem::path& path, std::uint64_t size);

}  // namespace edgegpu
