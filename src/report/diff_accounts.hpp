#pragma once

#include <string>
#include <vector>

#include "report/tree_changes.hpp"

namespace edgegpu {

/// A field of an account with its values; empty if there is none.
struct AccountField {
    std::string name;
    std::string before;
    std::string after;
};

/// A change of a user or group.
struct AccountChange {
    std::string name;
    /// "added", "removed" or "changed"
    std::string change;
    /// The fields that differ. Users: "uid", "gid", "home", "shell", "comment", "password" ("set",
    /// "set anew", "locked", "none"; never a hash). Groups: "gid", "members" (sorted, joined with
    /// ",").
    std::vector<AccountField> fields;
};

/// The changes of accounts, sorted by name.
struct AccountChanges {
    std::vector<AccountChange> users;
    std::vector<AccountChange> groups;

    [[nodiscard]] bool empty() const { return users.empty() && groups.empty(); }
};

/// Compares the accounts in /usr/etc and /usr/lib as seen on a device: of accounts with the same
/// name, that in /usr/etc wins.
[[nodiscard]] AccountChanges compare_accounts(const CommitPair& pair, const TreeChanges& changes);

}  // namespace edgegpu
