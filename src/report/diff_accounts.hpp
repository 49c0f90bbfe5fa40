#pragma once

#include <string>
#include <vector>

#include "report/tree_changes.hpp"

namespace edgegpu {

/// A field of an account with its values; empty where there was none.
struct AccountField {
    std::string name;
    std::string before;
    std::string after;
};

/// A user or group that came, went or differs.
struct AccountChange {
    std::string name;
    /// "added", "removed" or "changed"
    std::string change;
    /// Those that differ. Users: "uid", "gid", "home", "shell", "comment", "password" ("set",
    /// "set anew", "locked", "none"; never a hash). Groups: "gid", "members" (sorted, joined with
    /// ",").
    std::vector<AccountField> fields;
};

/// What differs of the accounts, sorted by name.
struct AccountChanges {
    std::vector<AccountChange> users;
    std::vector<AccountChange> groups;

    [[nodiscard]] bool empty() const { return users.empty() && groups.empty(); }
};

/// Compares the accounts in /usr/etc and /usr/lib as a device sees them: the first file that has a
/// name wins.
[[nodiscard]] AccountChanges compare_accounts(const CommitPair& pair, const TreeChanges& changes);

}  // namespace edgegpu
