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
    /// "packages", "kernel arguments" or "SELinux rules"
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

/// The file objects that a device with `before` needs for `after`.
struct NewContent {
    /// number of file objects
    std::uint64_t objects = 0;
    /// their content in bytes, uncompressed
    std::uint64_t bytes = 0;
    /// their size in the repository in bytes
    std::uint64_t stored_bytes = 0;
};

/// Compares both trees, without reading directories with the same checksum. Throws Error for
/// objects that are missing or malformed, and for trees of more than 200 levels or a million paths.
[[nodiscard]] TreeChanges compare_trees(const CommitPair& pair);

/// The objects of `after` that no path of `before` has. `changes` are those of the same pair.
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
