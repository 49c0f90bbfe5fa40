#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <string_view>

namespace edgegpu {

/// What kind of object a path is. ostree carries nothing else.
enum class EntryType { directory, file, symlink };

/// One path of the image, in values.
struct Entry {
    EntryType type = EntryType::file;
    /// permission bits with setuid, setgid and sticky (07777)
    unsigned mode = 0;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    /// files: bytes
    std::uint64_t size = 0;
    /// files: SHA-256 of the content, lower-case hexadecimal
    std::string digest;
    /// files: where the content can be read now (in the cache; never changes while the build runs)
    std::filesystem::path content;
    /// symlinks: the target
    std::string target;
    /// files: raw value of security.capability, or empty
    std::string capabilities;
    /// SELinux context "system_u:object_r:bin_t:s0"; set by the selinux stage
    std::string label;
};

/// The image's tree: absolute path ("/usr/bin/bash") → entry, sorted by path. "/" itself is an
/// entry; every parent of an entry is a directory entry. Paths are the *deployed* ones up to
/// `finish_layout`: "/etc/…", "/usr/…", "/var/…"; afterwards ostree's ("/usr/etc/…").
using Entries = std::map<std::string, Entry, std::less<>>;

/// The entry of a symbolic link.
[[nodiscard]] Entry link_to(std::string_view target);

/// Entries that follow each other. Valid until one of them, or the one after them, is removed.
using EntryRange = std::ranges::subrange<Entries::const_iterator>;

/// What lies below a directory (but not the directory itself), in order of paths. A slash at the
/// end of `directory` makes no difference.
[[nodiscard]] EntryRange entries_below(const Entries& entries, std::string_view directory);
/// The entries whose paths begin with `prefix` (which may end within a name, but not with byte
/// 255), in order of paths.
[[nodiscard]] EntryRange entries_with_prefix(const Entries& entries, std::string_view prefix);

/// Erases what lies below a directory, but not the directory itself.
void erase_below(Entries& entries, std::string_view directory);
/// Erases a path and all below it.
void erase_subtree(Entries& entries, std::string_view path);
/// Takes a path and all below it out of `entries`.
[[nodiscard]] Entries take_subtree(Entries& entries, std::string_view path);

}  // namespace edgegpu
