#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/line_changes.hpp"
#include "report/tree_changes.hpp"

namespace edgegpu {

/// Files and symlinks in figures; directories do not count.
struct FileTotals {
    std::uint64_t added = 0;
    std::uint64_t added_bytes = 0;
    std::uint64_t removed = 0;
    std::uint64_t removed_bytes = 0;
    /// another type, content or target
    std::uint64_t changed = 0;
    std::uint64_t changed_bytes_before = 0;
    std::uint64_t changed_bytes_after = 0;
    /// another mode, owner, label or attribute alone
    std::uint64_t other = 0;
};

[[nodiscard]] FileTotals count_files(const TreeChanges& changes);

/// A file whose lines matter.
struct ConfigChange {
    std::string path;
    /// "added", "removed" or "changed"
    std::string change;
    LineChanges lines;
};

/// The files in /usr/etc/modprobe.d and /usr/lib/modprobe.d, sorted by path.
[[nodiscard]] std::vector<ConfigChange> compare_modprobe(const CommitPair& pair,
                                                         const TreeChanges& changes);

/// A file of a bundle.
struct BundleFile {
    /// below the bundle's directory
    std::string name;
    /// "added", "removed" or "changed"
    std::string change;
};

/// A kustomize bundle: /usr/etc/microshift/manifests, or a directory in manifests.d.
struct BundleChange {
    std::string directory;
    /// of the directory as a whole: "added", "removed" or "changed"
    std::string change;
    std::vector<BundleFile> files;
};

/// The bundles that MicroShift applies, below /usr/etc and /usr/lib; sorted by directory.
[[nodiscard]] std::vector<BundleChange> compare_bundles(const CommitPair& pair,
                                                        const TreeChanges& changes);

}  // namespace edgegpu
