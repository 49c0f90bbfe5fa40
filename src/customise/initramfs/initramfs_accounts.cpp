#include "customise/initramfs/initramfs_accounts.hpp"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "image/account_files.hpp"

namespace edgegpu {

namespace {

using Names = std::set<std::string, std::less<>>;

AccountFile packaged(const Tree& tree, std::string_view path) {
    const auto found = tree.packaged_accounts.find(path);
    return found == tree.packaged_accounts.end() ? AccountFile{} : parse_accounts(found->second);
}

/// Names of the system accounts in a passwd or group file.
Names system_names(const AccountFile& file) {
    Names names;
    for (const AccountFile::Row& row : file.rows) {
        const std::uint32_t id = account_id(row);
        if (id < first_user_id || id > last_user_id) {
            names.insert(row.front());
        }
    }
    return names;
}

/// Removes members that are not in `names` from a list ("a,b").
void keep_members(std::string& list, const Names& names) {
    std::vector<std::string> members = split_members(list);
    std::erase_if(members, [&](const std::string& member) { return !names.contains(member); });
    list = fmt::format("{}", fmt::join(members, ","));
}

}  // namespace

std::string system_accounts(const Tree& tree, std::string_view path) {
    const bool of_users = path == "/etc/passwd" || path == "/etc/shadow";
    const Names users = system_names(packaged(tree, "/etc/passwd"));
    const Names names = of_users ? users : system_names(packaged(tree, "/etc/group"));
    AccountFile file = packaged(tree, path);
    std::erase_if(file.rows,
                  [&](const AccountFile::Row& row) { return !names.contains(row.front()); });
    for (AccountFile::Row& row : file.rows) {
        // group: name, password, number, members; gshadow: name, password, administrators, members
        if (path == "/etc/gshadow" && row.size() > 2) {
            keep_members(row[2], users);
        }
        if (!of_users && row.size() > 3) {
            keep_members(row[3], users);
        }
    }
    return file.text();
}

}  // namespace edgegpu
