#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// First number of ordinary (not system) accounts: UID_MIN of login.defs(5) by default.
inline constexpr std::uint32_t first_user_id = 1000;
/// Last number of ordinary accounts: UID_MAX of login.defs(5) by default, which is inclusive.
inline constexpr std::uint32_t last_user_id = 60000;

/// A file like passwd(5), group(5), shadow(5), gshadow(5) or subuid(5): rows of fields separated by
/// colons, in the file's order.
struct AccountFile {
    using Row = std::vector<std::string>;
    std::vector<Row> rows;

    /// The row of `name`, or nullptr.
    [[nodiscard]] Row* find(std::string_view name);
    [[nodiscard]] const Row* find(std::string_view name) const;
    /// The file's text; every row ends with a newline.
    [[nodiscard]] std::string text() const;
};

/// Splits text into rows, without empty lines.
[[nodiscard]] AccountFile parse_accounts(std::string_view text);

/// The file at `path` of the tree; no rows if it does not exist.
[[nodiscard]] AccountFile read_accounts(const Tree& tree, std::string_view path);

/// The third field of a row (uid in passwd, gid in group). Throws Error with the row if it is not a
/// number.
[[nodiscard]] std::uint32_t account_id(const AccountFile::Row& row);

/// All numbers of a passwd or group file.
[[nodiscard]] std::set<std::uint32_t> account_ids(const AccountFile& file);

/// Number → name; the first row wins, as in getpwuid(3).
[[nodiscard]] std::map<std::uint32_t, std::string> account_names(const AccountFile& file);

/// The members of a comma-separated list ("a,b").
[[nodiscard]] std::vector<std::string> split_members(std::string_view list);

/// Name → number, from the text of passwd(5) or group(5). Skips malformed lines; the first line of
/// a name wins, as in getpwnam(3).
[[nodiscard]] std::map<std::string, std::uint32_t, std::less<>> parse_numbers(
    std::string_view file);

/// Text of passwd and group of the parent commit, for stable numbers; empty without a parent.
struct ParentAccounts {
    std::string passwd;
    std::string group;
};

/// What to do about a "user" or "group" that the image does not have: similar names in `file`, else
/// how the image gets one.
[[nodiscard]] std::string absent_account_hint(std::string_view what, std::string_view name,
                                              const AccountFile& file);

/// The owner of a file.
struct Owner {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

/// The numbers of a user and a group, given in the blueprint by name or number, from the tree's
/// account files. Throws ErrorKind::usage, with the location `where` and similar names, for a name
/// that the image does not have.
[[nodiscard]] Owner find_owner(const Tree& tree, const std::string& where, const std::string& user,
                               const std::string& group);

}  // namespace edgegpu
