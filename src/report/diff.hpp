#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/commit_view.hpp"
#include "report/diff_accounts.hpp"
#include "report/diff_files.hpp"
#include "report/diff_packages.hpp"
#include "report/diff_policy.hpp"
#include "report/diff_units.hpp"
#include "report/tree_changes.hpp"

namespace edgegpu {

/// Kernel arguments that came and went, in the boot loader's order. One that is there twice counts
/// twice.
struct ArgumentChanges {
    std::vector<std::string> added;
    std::vector<std::string> removed;
    /// the same arguments in another order
    bool reordered = false;

    [[nodiscard]] bool empty() const { return added.empty() && removed.empty() && !reordered; }
};

/// What was gained and lost between two commits. Names in it come from the repository: they may
/// hold control characters.
struct Diff {
    CommitInfo before;
    CommitInfo after;
    std::vector<Unknown> unknown;
    std::vector<PackageChange> packages;
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
};

/// Compares two commits, of one repository or of two. Commits that are not edgegpu's lack some of
/// the metadata: `unknown` says which. Throws Error where objects are missing or malformed, and
/// ErrorKind::interrupted.
[[nodiscard]] Diff diff_commits(const Context& ctx, const CommitView& before,
                                const CommitView& after);

/// How to show it.
struct DiffTextOptions {
    bool colored = false;
    /// every path, instead of the largest ones
    bool all_files = false;
};

/// The result as text: one section for each kind of change, with counts; long lists end with how
/// much is left out.
[[nodiscard]] std::string diff_text(const Diff& diff, const DiffTextOptions& options);

/// The result as a JSON document "edgegpu-diff/1" (docs/schemas/diff.json); `repository` is its
/// absolute path.
[[nodiscard]] std::string diff_json(const Diff& diff, const std::string& repository);

}  // namespace edgegpu
