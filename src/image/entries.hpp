#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace edgegpu {

/// The type of an object: those that ostree supports.
enum class EntryType { directory, file, symlink };

/// 'd' of a directory, 'l' of a symlink, and `file` of a file.
[[nodiscard]] constexpr char type_letter(EntryType type, char file) {
    return type == EntryType::directory ? 'd' : type == EntryType::symlink ? 'l' : file;
}

/// One path of the image.
struct Entry {
    EntryType type = EntryType::file;
    /// permission bits with setuid, setgid and sticky (07777)
    unsigned mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// files: size in bytes
    std::uint64_t size = 0;
    /// files: SHA-256 of the content, lower-case hexadecimal
    std::string digest;
    /// files: path of the content in the cache, which never changes while the build runs
    std::filesystem::path content;
    /// symlinks: the target
    std::string target;
    /// files: raw value of security.capability, or empty
    std::string capabilities;
    /// SELinux context "system_u:object_r:bin_t:s0"; set by the selinux stage
    std::string label;
};

/// The image's tree: absolute path ("/usr/bin/bash") → entry, sorted by path. "/" itself is an
/// entry; each parent of an entry is a directory entry. Paths are those of a deployed system
/// ("/etc/…", "/var/…") until `finish_layout`, then those in an ostree commit ("/usr/etc/…").
using Entries = std::map<std::string, Entry, std::less<>>;

/// The entry of a directory of root.
[[nodiscard]] Entry directory_entry(unsigned mode);
/// The entry of a symbolic link.
[[nodiscard]] Entry link_to(std::string_view target);

/// Consecutive entries. Valid until one of them, or the one after them, is removed.
// No std::ranges::subrange: clang 14 cannot compile that of GCC 12.
class EntryRange {
public:
    EntryRange(Entries::const_iterator begin, Entries::const_iterator end)
        : begin_(begin), end_(end) {}
    [[nodiscard]] Entries::const_iterator begin() const { return begin_; }
    [[nodiscard]] Entries::const_iterator end() const { return end_; }
    [[nodiscard]] bool empty() const { return begin_ == end_; }

private:
    Entries::const_iterator begin_;
    Entries::const_iterator end_;
};

/// The entries below a directory, without the directory itself, in order of paths. A slash at the
/// end of `directory` makes no difference.
[[nodiscard]] EntryRange entries_below(const Entries& entries, std::string_view directory);
/// The entries whose paths begin with `prefix` (which may end within a name, but not with byte
/// 255), in order of paths.
[[nodiscard]] EntryRange entries_with_prefix(const Entries& entries, std::string_view prefix);

/// Erases everything below a directory, but not the directory itself.
void erase_below(Entries& entries, std::string_view directory);
/// Erases a path and everything below it.
void erase_subtree(Entries& entries, std::string_view path);
/// Removes a path and everything below it from `entries`; returns them.
[[nodiscard]] Entries take_subtree(Entries& entries, std::string_view path);

}  // namespace edgegpu
