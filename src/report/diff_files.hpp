#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/line_changes.hpp"
#include "report/tree_changes.hpp"

namespace edgegpu {

/// Numbers of files and symlinks, and bytes; without directories.
struct FileTotals {
    std::uint64_t added = 0;
    std::uint64_t added_bytes = 0;
    std::uint64_t removed = 0;
    std::uint64_t removed_bytes = 0;
    /// another type, content or target
    std::uint64_t changed = 0;
    std::uint64_t changed_bytes_before = 0;
    std::uint64_t changed_bytes_after = 0;
    /// only mode, owner, label or other attributes differ
    std::uint64_t other = 0;
};

/// Counts the changes of a whole tree.
[[nodiscard]] FileTotals count_files(const TreeChanges& changes);

/// A change of a configuration file.
struct ConfigChange {
    std::string path;
    /// "added", "removed" or "changed"
    std::string change;
    LineChanges lines;
};

/// The changes of files in /usr/etc/modprobe.d and /usr/lib/modprobe.d; in each directory sorted by
/// path.
[[nodiscard]] std::vector<ConfigChange> compare_modprobe(const CommitPair& pair,
                                                         const TreeChanges& changes);

/// A change of a file of a bundle.
struct BundleFile {
    /// path below the bundle's directory
    std::string name;
    /// "added", "removed" or "changed"
    std::string change;
};

/// A change of a kustomize bundle: a directory in manifests or manifests.d, or in its `delete`; or
/// the files of /usr/etc/microshift/manifests itself.
struct BundleChange {
    std::string directory;
    /// of the whole directory: "added", "removed" or "changed"
    std::string change;
    std::vector<BundleFile> files;
};

/// The changes of bundles that MicroShift applies, below /usr/etc/microshift and
/// /usr/lib/microshift; sorted by directory.
[[nodiscard]] std::vector<BundleChange> compare_bundles(const CommitPair& pair,
                                                        const TreeChanges& changes);

}  // namespace edgegpu
