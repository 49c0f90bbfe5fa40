#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Two commits to be compared; the context is for cancellation.
struct CommitPair {
    const Context& ctx;
    const CommitView& before;
    const CommitView& after;
};

/// Something that could not be compared.
struct Unknown {
    /// "packages", "kernel arguments", "advisories", "GPU stack" or "SELinux rules"
    std::string what;
    std::string why;
    bool operator==(const Unknown&) const = default;
};

/// A path that was added (no `before`) or removed (no `after`), or differs.
struct PathChange {
    std::optional<CommitPath> before;
    std::optional<CommitPath> after;
    /// both exist and differ in type, a file's content or a symlink's target
    bool content = false;

    /// "added", "removed" or "changed".
    [[nodiscard]] const char* kind() const noexcept;
    /// If both exist, those of "type", "content", "target", "mode", "owner", "label", "attributes"
    /// that differ.
    [[nodiscard]] std::vector<std::string> differences() const;
};

/// Absolute path → change, directories included.
using TreeChanges = std::map<std::string, PathChange, std::less<>>;

/// The objects that a device with `before` needs for `after`.
struct NewContent {
    /// number of file objects
    std::uint64_t objects = 0;
    /// their content in bytes, uncompressed
    std::uint64_t bytes = 0;
    /// their size in the repository in bytes
    std::uint64_t stored_bytes = 0;
    /// the largest of these sizes, and the first path of that file; empty if there is no file
    std::uint64_t largest_bytes = 0;
    std::string largest_path;
    /// number of dirtrees and dirmetas
    std::uint64_t directories = 0;
    /// their size in bytes
    std::uint64_t directory_bytes = 0;
    /// size of the commit and of its detached metadata in bytes; 0: it is the same commit
    std::uint64_t commit_bytes = 0;
    /// what all of it takes on a device's disk, in whole blocks of 4 KiB
    std::uint64_t disk_bytes = 0;
    /// kernel and initramfs of `after` if a device needs a new copy of them in /boot, in blocks
    std::uint64_t boot_bytes = 0;
    bool operator==(const NewContent&) const = default;
};

/// Compares both trees, without reading directories with the same checksum. Throws Error for
/// objects that are missing or malformed, and for trees of more than 200 levels or a million paths.
[[nodiscard]] TreeChanges compare_trees(const CommitPair& pair);

/// Whether a path is of what is copied to /boot: kernel, initramfs or device tree in
/// /usr/lib/modules.
[[nodiscard]] bool is_boot_file(std::string_view path);

/// The objects of `after` that `before` does not have. `changes` are those of the same pair.
[[nodiscard]] NewContent new_content(const CommitPair& pair, const TreeChanges& changes);

/// A range of TreeChanges.
struct ChangeRange {
    TreeChanges::const_iterator first;
    TreeChanges::const_iterator last;
    [[nodiscard]] TreeChanges::const_iterator begin() const { return first; }
    [[nodiscard]] TreeChanges::const_iterator end() const { return last; }
    [[nodiscard]] bool empty() const { return first == last; }
};
/// The changes below `directory` ("/usr/etc/modprobe.d"), without the directory itself.
[[nodiscard]] ChangeRange changes_below(const TreeChanges& changes, std::string_view directory);

}  // namespace edgegpu
