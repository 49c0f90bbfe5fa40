#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Numbers of ordinary (not system) accounts, as login.defs has them by default.
inline constexpr std::uint32_t first_user_id = 1000;
/// First and last number that no ordinary account gets: 65534 is nobody, 65535 is reserved.
inline constexpr std::uint32_t end_user_id = 60000;

/// One of passwd(5), group(5), shadow(5) or gshadow(5): rows of fields between colons, in the
/// file's order.
struct AccountFile {
    using Row = std::vector<std::string>;
    std::vector<Row> rows;

    /// The row of `name`, or nullptr.
    [[nodiscard]] Row* find(std::string_view name);
    [[nodiscard]] const Row* find(std::string_view name) const;
    /// The file's text; every row ends with a newline.
    [[nodiscard]] std::string text() const;
};

/// Splits text into rows; empty lines vanish.
[[nodiscard]] AccountFile parse_accounts(std::string_view text);

/// The file at `path` of the tree; no rows where it does not exist.
[[nodiscard]] AccountFile read_accounts(const Tree& tree, std::string_view path);

/// Field 2 (uid of passwd, gid of group) of a row as a number. Throws Error naming the row for
/// anything else.
[[nodiscard]] std::uint32_t account_id(const AccountFile::Row& row);

/// All numbers of a passwd or group file.
[[nodiscard]] std::set<std::uint32_t> account_ids(const AccountFile& file);

/// Number → name; the first row wins, as getpwuid(3) has it.
[[nodiscard]] std::map<std::uint32_t, std::string> account_names(const AccountFile& file);

/// Members of a comma-separated list ("a,b").
[[nodiscard]] std::vector<std::string> split_members(std::string_view list);

/// Name → number, from a passwd(5) or group(5) file (both have it in the third field). Malformed
/// lines are skipped; the first of several lines with one name wins, as in getpwnam(3).
[[nodiscard]] std::map<std::string, std::uint32_t, std::less<>> parse_numbers(
    std::string_view file);

/// passwd and group of the parent commit, for stable numbers; empty without a parent.
struct ParentAccounts {
    std::string passwd;
    std::string group;
};

/// An owner of files.
struct Owner {
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
};

/// Numbers of a user and a group named (or numbered) in the blueprint, from the tree's accounts.
/// Throws ErrorKind::usage beginning with `where` for names the image does not have, with the
/// nearest ones as a hint.
[[nodiscard]] Owner find_owner(const Tree& tree, const std::string& where, const std::string& user,
                               const std::string& group);

}  // namespace edgegpu
