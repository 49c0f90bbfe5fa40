#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/commit_view.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Two commits to be compared, and whether the user still wants it.
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

/// A path that came (no `before`), went (no `after`) or differs.
struct PathChange {
    std::optional<CommitPath> before;
    std::optional<CommitPath> after;
    /// in both: the type, a file's content or a symlink's target differs
    bool content = false;

    /// "added", "removed" or "changed".
    [[nodiscard]] const char* kind() const noexcept;
    /// What differs where it is in both: of "type", "content", "target", "mode", "owner",
    /// "label", "attributes".
    [[nodiscard]] std::vector<std::string> differences() const;
};

/// Absolute path → change, directories included.
using TreeChanges = std::map<std::string, PathChange, std::less<>>;

/// What a device that has `before` lacks of `after`.
struct NewContent {
    /// file objects
    std::uint64_t objects = 0;
    /// of content, uncompressed
    std::uint64_t bytes = 0;
    /// as the repository holds it
    std::uint64_t stored_bytes = 0;
};

/// Walks both trees where they differ: directories with the same checksum are not read. Throws
/// Error where objects are missing or malformed, or the trees are deeper or larger than any image.
[[nodiscard]] TreeChanges compare_trees(const CommitPair& pair);

/// The objects of `after` that no path of `before` has. `changes` are those of the same pair.
[[nodiscard]] NewContent new_content(const CommitPair& pair, const TreeChanges& changes);

/// A range of `changes`: what lies below `directory` ("/usr/etc/modprobe.d"), itself excluded.
struct ChangeRange {
    TreeChanges::const_iterator first;
    TreeChanges::const_iterator last;
    [[nodiscard]] TreeChanges::const_iterator begin() const { return first; }
    [[nodiscard]] TreeChanges::const_iterator end() const { return last; }
    [[nodiscard]] bool empty() const { return first == last; }
};
[[nodiscard]] ChangeRange changes_below(const TreeChanges& changes, std::string_view directory);

}  // namespace edgegpu
