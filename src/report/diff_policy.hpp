#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/line_changes.hpp"
#include "report/tree_changes.hpp"

namespace edgegpu {

/// A boolean that came (no `before`), went (no `after`) or has another value.
struct BooleanChange {
    std::string name;
    std::optional<bool> before;
    std::optional<bool> after;
};

/// A module of the policy's store.
struct ModuleChange {
    std::string name;
    std::string priority;
    /// "added", "removed", "changed", "disabled" or "enabled"
    std::string change;
};

/// A path that both commits have, with another label.
struct LabelChange {
    std::string path;
    std::string before;
    std::string after;
};

/// Sorted names that came and went.
struct NameChanges {
    std::vector<std::string> gained;
    std::vector<std::string> lost;

    [[nodiscard]] bool empty() const { return gained.empty() && lost.empty(); }
};

/// What differs of the SELinux policy.
struct PolicyChanges {
    /// SELINUXTYPE ("targeted") and SELINUX ("enforcing") of /etc/selinux/config; empty: none
    std::string type_before;
    std::string type_after;
    std::string mode_before;
    std::string mode_after;
    std::vector<ModuleChange> modules;
    std::vector<BooleanChange> booleans;
    /// types whose domain is permissive
    NameChanges permissive;
    NameChanges types;
    /// "T A": type T has attribute A, and with it what rules give to A
    NameChanges attributes;
    /// The other lines of `PolicyDb::rule_lines`: "allow S T:C P", "type_transition …", …
    NameChanges rules;
    std::vector<LabelChange> labels;
    /// of all files in contexts/files
    LineChanges file_contexts;

    [[nodiscard]] bool empty() const;
};

/// Compares the policies that the images load, and the labels of all paths. What could not be
/// compared is added to `unknown`. Throws Error for a policy that libsepol cannot read.
[[nodiscard]] PolicyChanges compare_policies(const CommitPair& pair, const TreeChanges& changes,
                                             std::vector<Unknown>& unknown);

/// What two sets differ in.
[[nodiscard]] NameChanges compare_names(const std::set<std::string>& before,
                                        const std::set<std::string>& after);

/// Sorts what two sets of rule lines differ in into `rules`, `attributes` and `permissive`.
void compare_rules(const std::set<std::string>& before, const std::set<std::string>& after,
                   PolicyChanges& policy);

/// Rules one line for each source, target and class: "allow S T:C { a b }", with permissions
/// sorted and a condition left behind them.
[[nodiscard]] std::vector<std::string> merged_rules(const std::vector<std::string>& rules);

/// "T A" one line for each type: "T: A, B".
[[nodiscard]] std::vector<std::string> merged_attributes(
    const std::vector<std::string>& attributes);

}  // namespace edgegpu
