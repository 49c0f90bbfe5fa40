#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/line_changes.hpp"
#include "report/tree_changes.hpp"

namespace edgegpu {

/// A boolean that was added (no `before`) or removed (no `after`), or has another value.
struct BooleanChange {
    std::string name;
    std::optional<bool> before;
    std::optional<bool> after;
};

/// A change of a module of the policy's store.
struct ModuleChange {
    std::string name;
    /// empty for "disabled" and "enabled"
    std::string priority;
    /// "added", "removed", "changed", "disabled" or "enabled"
    std::string change;
};

/// A path with different labels in the two commits.
struct LabelChange {
    std::string path;
    std::string before;
    std::string after;
};

/// Names that were added and removed, sorted.
struct NameChanges {
    std::vector<std::string> gained;
    std::vector<std::string> lost;

    [[nodiscard]] bool empty() const { return gained.empty() && lost.empty(); }
};

/// The changes of the SELinux policy.
struct PolicyChanges {
    /// SELINUXTYPE ("targeted") and SELINUX ("enforcing") of /etc/selinux/config, or empty
    std::string type_before;
    std::string type_after;
    std::string mode_before;
    std::string mode_after;
    std::vector<ModuleChange> modules;
    std::vector<BooleanChange> booleans;
    /// permissive types
    NameChanges permissive;
    NameChanges types;
    /// "T A": type T has attribute A
    NameChanges attributes;
    /// the other lines of `PolicyDb::rule_lines`: "allow S T:C P", "type_transition …", …
    NameChanges rules;
    std::vector<LabelChange> labels;
    /// of all files in contexts/files
    LineChanges file_contexts;

    [[nodiscard]] bool empty() const;
};

/// Compares the policies that the images load, and the labels of all paths. Adds to `unknown` what
/// cannot be compared. Throws Error for a policy that libsepol cannot read.
[[nodiscard]] PolicyChanges compare_policies(const CommitPair& pair, const TreeChanges& changes,
                                             std::vector<Unknown>& unknown);

/// The differences between two sets.
[[nodiscard]] NameChanges compare_names(const std::set<std::string>& before,
                                        const std::set<std::string>& after);

/// Compares two sets of rule lines (PolicyDb::rule_lines); sets `rules`, `attributes` and
/// `permissive`.
void compare_rules(const std::set<std::string>& before, const std::set<std::string>& after,
                   PolicyChanges& policy);

/// Merges allow rules to one line for each source, target, class and condition: "allow S T:C { a b
/// } CONDITION", with permissions sorted; other rules stay unchanged.
[[nodiscard]] std::vector<std::string> merged_rules(const std::vector<std::string>& rules);

/// Merges lines "T A" to one for each type: "T: A, B".
[[nodiscard]] std::vector<std::string> merged_attributes(
    const std::vector<std::string>& attributes);

}  // namespace edgegpu
