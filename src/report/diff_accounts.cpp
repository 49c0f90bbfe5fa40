#include "report/diff_accounts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "image/account_files.hpp"

namespace edgegpu {

namespace {

constexpr std::uint64_t largest_file = 16U << 20U;

/// The fields of an account, in the order of AccountChange::fields.
constexpr std::array user_fields{"uid", "gid", "home", "shell", "comment", "password"};
constexpr std::array group_fields{"gid", "members"};

using Fields = std::map<std::string, std::string>;
/// Name → field → value.
using Accounts = std::map<std::string, Fields>;

/// Where a commit of ostree has its accounts, and, in the last one, an image for snapshots.
constexpr std::array account_directories{"/usr/etc/", "/usr/lib/", "/etc/"};

/// The rows of NAME in all of them.
std::vector<AccountFile::Row> rows_of(const CommitView& commit, const std::string& name) {
    std::vector<AccountFile::Row> rows;
    for (const char* directory : account_directories) {
        const auto text = commit.read(directory + name, largest_file);
        std::ranges::move(parse_accounts(text.value_or("")).rows, std::back_inserter(rows));
    }
    return rows;
}

std::string field(const AccountFile::Row& row, std::size_t index) {
    return index < row.size() ? row[index] : "";
}

std::string password_state(const std::string& hash) {
    return hash.empty()                                     ? "none"
           : hash.starts_with('!') || hash.starts_with('*') ? "locked"
                                                            : "set";
}

/// Name → hash in shadow(5).
std::map<std::string, std::string> hashes(const CommitView& commit) {
    std::map<std::string, std::string> found;
    for (const AccountFile::Row& row : rows_of(commit, "shadow")) {
        found.emplace(row.front(), field(row, 1));
    }
    return found;
}

Accounts users_of(const CommitView& commit) {
    Accounts users;
    for (const AccountFile::Row& row : rows_of(commit, "passwd")) {
        users.emplace(row.front(), Fields{{"uid", field(row, 2)},
                                          {"gid", field(row, 3)},
                                          {"comment", field(row, 4)},
                                          {"home", field(row, 5)},
                                          {"shell", field(row, 6)}});
    }
    return users;
}

Accounts groups_of(const CommitView& commit) {
    Accounts groups;
    for (const AccountFile::Row& row : rows_of(commit, "group")) {
        std::vector<std::string> members = split_members(field(row, 3));
        std::ranges::sort(members);
        groups.emplace(row.front(),
                       Fields{{"gid", field(row, 2)},
                              {"members", fmt::format("{}", fmt::join(members, ","))}});
    }
    return groups;
}

/// Sets the field "password"; if only the hash differs, it is "set" before and "set anew" after.
void add_passwords(Accounts& before, Accounts& after, const CommitPair& pair) {
    const auto old_hashes = hashes(pair.before);
    const auto new_hashes = hashes(pair.after);
    const auto add = [](Accounts& users, const std::map<std::string, std::string>& hashes) {
        for (auto& [name, fields] : users) {
            const auto hash = hashes.find(name);
            fields["password"] = hash == hashes.end() ? "locked" : password_state(hash->second);
        }
    };
    add(before, old_hashes);
    add(after, new_hashes);
    for (auto& [name, fields] : after) {
        const auto old_hash = old_hashes.find(name);
        const auto new_hash = new_hashes.find(name);
        if (old_hash != old_hashes.end() && new_hash != new_hashes.end() &&
            fields["password"] == "set" && password_state(old_hash->second) == "set" &&
            old_hash->second != new_hash->second) {
            fields["password"] = "set anew";
        }
    }
}

std::vector<AccountChange> compare(const Accounts& before, const Accounts& after,
                                   std::span<const char* const> keys) {
    std::set<std::string> names;
    for (const Accounts* accounts : {&before, &after}) {
        for (const auto& [name, fields] : *accounts) {
            names.insert(name);
        }
    }
    const auto fields_of = [](const Accounts& accounts, const std::string& name) {
        const auto found = accounts.find(name);
        return found == accounts.end() ? Fields{} : found->second;
    };
    std::vector<AccountChange> changes;
    for (const std::string& name : names) {
        Fields old_fields = fields_of(before, name);
        Fields new_fields = fields_of(after, name);
        AccountChange change{name,
                             !before.contains(name)  ? "added"
                             : !after.contains(name) ? "removed"
                                                     : "changed",
                             {}};
        for (const char* key : keys) {
            if (old_fields[key] != new_fields[key]) {
                change.fields.push_back({key, old_fields[key], new_fields[key]});
            }
        }
        if (change.change != "changed" || !change.fields.empty()) {
            changes.push_back(std::move(change));
        }
    }
    return changes;
}

/// Whether an account file changed.
bool touched(const TreeChanges& changes) {
    for (const char* directory : account_directories) {
        for (const char* name : {"passwd", "group", "shadow"}) {
            if (changes.contains(std::string(directory) + name)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

AccountChanges compare_accounts(const CommitPair& pair, const TreeChanges& changes) {
    if (!touched(changes)) {
        return {};
    }
    Accounts before = users_of(pair.before);
    Accounts after = users_of(pair.after);
    add_passwords(before, after, pair);
    return {compare(before, after, user_fields),
            compare(groups_of(pair.before), groups_of(pair.after), group_fields)};
}

}  // namespace edgegpu
