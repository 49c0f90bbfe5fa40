#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delta/static_delta.hpp"
#include "report/diff_accounts.hpp"
#include "report/diff_files.hpp"
#include "report/diff_packages.hpp"
#include "report/diff_policy.hpp"
#include "report/diff_stack.hpp"
#include "report/diff_units.hpp"
#include "report/tree_changes.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Changes of kernel arguments, in the arguments' order. One that occurs twice counts twice.
struct ArgumentChanges {
    std::vector<std::string> added;
    std::vector<std::string> removed;
    /// the same arguments in another order
    bool reordered = false;

    [[nodiscard]] bool empty() const { return added.empty() && removed.empty() && !reordered; }
};

/// A container image that differs.
struct ImageChange {
    std::string name;
    /// nothing if it was added
    std::optional<CommitImage> before;
    /// nothing if it was removed
    std::optional<CommitImage> after;

    /// "added", "removed" or "changed".
    [[nodiscard]] const char* kind() const {
        return !before ? "added" : !after ? "removed" : "changed";
    }
};

/// The differences between two commits. Names come from the repository and may contain control
/// characters.
struct Diff {
    CommitInfo before;
    CommitInfo after;
    std::vector<Unknown> unknown;
    std::vector<PackageChange> packages;
    std::vector<StackChange> gpu_stack;
    /// sorted by name
    std::vector<ImageChange> images;
    ArgumentChanges kernel_arguments;
    UnitChanges units;
    AccountChanges accounts;
    PolicyChanges policy;
    std::vector<ConfigChange> modprobe;
    std::vector<BundleChange> bundles;
    /// every path that differs
    TreeChanges paths;
    FileTotals files;
    NewContent new_content;
    /// that the second commit has for packages that have changed, and the first has not: security
    /// first, then by severity and id
    std::vector<CommitAdvisory> advisories;
    /// of the repository from the first commit to the second, if it has one
    std::optional<StaticDelta> delta;
};

/// Compares two commits, of one repository or of two. Commits of other programs do not have all
/// metadata; `unknown` says what could not be compared. Throws Error for objects that are missing
/// or malformed, and ErrorKind::interrupted.
[[nodiscard]] Diff diff_commits(const Context& ctx, const CommitView& before,
                                const CommitView& after);

}  // namespace edgegpu
