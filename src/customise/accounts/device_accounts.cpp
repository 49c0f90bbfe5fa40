#include "customise/accounts/device_accounts.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "customise/units/vendor_unit.hpp"
#include "embedded_device_accounts.hpp"
#include "image/account_files.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

constexpr const char* directory = "/usr/lib/edgegpu/accounts";
constexpr const char* program = "/usr/libexec/edgegpu/accounts";
/// As in src/customise/device/accounts.
constexpr const char* seen = "/etc/edgegpu/accounts-seen";

std::string group_name(const AccountFile& groups, const std::string& gid) {
    for (const AccountFile::Row& row : groups.rows) {
        if (row.size() > 2 && row[2] == gid) {
            return row.front();
        }
    }
    return gid;
}

/// First number of the user's range in a file of subuid(5), or empty.
std::string range_start(const AccountFile& file, const std::string& user) {
    const AccountFile::Row* row = file.find(user);
    return row != nullptr && row->size() == 3 ? (*row)[1] : "";
}

/// Lines NAME:GID:fixed|free for the blueprint's groups and the primary groups of its users.
std::string declare_groups(const std::vector<UserRequest>& users,
                           const std::vector<GroupRequest>& groups, const AccountFile& passwd,
                           const AccountFile& group) {
    std::set<std::string> done;
    std::string text;
    const auto add = [&](const std::string& name, bool fixed) {
        const AccountFile::Row* row = group.find(name);
        if (row != nullptr && done.insert(name).second) {
            text += fmt::format("{}:{}:{}\n", name, (*row)[2], fixed ? "fixed" : "free");
        }
    };
    for (const GroupRequest& request : groups) {
        add(request.name, request.gid.has_value());
    }
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        add(group_name(group, user[3]), request.gid.has_value());
    }
    return text;
}

/// Lines NAME:UID:fixed|free:GROUP:HOME:SHELL:EXPIRE:RESET:SUBUID:SUBGID:GROUPS:DESCRIPTION, as
/// src/customise/device/accounts reads them.
std::string declare_users(const std::vector<UserRequest>& users, const Tree& tree,
                          const AccountFile& passwd, const AccountFile& group) {
    const AccountFile subuid = read_accounts(tree, "/etc/subuid");
    const AccountFile subgid = read_accounts(tree, "/etc/subgid");
    std::string text;
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        text += fmt::format(
            "{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}\n", request.name, user[2],
            request.uid ? "fixed" : "free", group_name(group, user[3]), user[5], user[6],
            request.expire_date ? std::to_string(*request.expire_date) : "",
            request.force_password_reset ? "reset" : "", range_start(subuid, request.name),
            range_start(subgid, request.name), fmt::join(request.groups, ","), user[4]);
    }
    return text;
}

/// The lines of a parent's file at `path` about other accounts than those of `text`.
std::string parent_lines(const Tree& tree, const std::string& path, std::string_view text) {
    std::set<std::string, std::less<>> named;
    for (const std::string_view line : lines_of(text)) {
        named.emplace(line.substr(0, line.find(':')));
    }
    std::string kept;
    const std::string old = find_entry(tree, path) == nullptr ? "" : read_entry(tree, path);
    for (const std::string_view line : lines_of(old)) {
        if (!named.contains(line.substr(0, line.find(':')))) {
            kept.append(line) += '\n';
        }
    }
    return kept;
}

}  // namespace

void declare_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                      const std::vector<GroupRequest>& groups, Tree& tree) {
    static constexpr std::array<std::string_view, 6> needed{
        "/usr/sbin/useradd", "/usr/sbin/usermod", "/usr/sbin/groupadd",
        "/usr/sbin/pwconv",  "/usr/bin/grep",     "/usr/lib/systemd/system/sysinit.target"};
    for (const std::string_view path : needed) {
        if (find_entry(tree, path) == nullptr) {
            ctx.console->warn(fmt::format(
                "users and groups of the blueprint do not reach devices whose own /etc/passwd was "
                "changed: the image has no {}",
                path));
            return;
        }
    }
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile group = read_accounts(tree, "/etc/group");
    const AccountFile shadow = read_accounts(tree, "/etc/shadow");
    std::string passwords;
    for (const UserRequest& request : users) {
        const AccountFile::Row* row = shadow.find(request.name);
        passwords += fmt::format("{}:{}\n", request.name, row != nullptr ? (*row)[1] : "*");
    }
    const auto put = [&](const char* name, const std::string& text, unsigned mode) {
        const std::string path = fmt::format("{}/{}", directory, name);
        put_entry(tree, path, make_file_entry(ctx, parent_lines(tree, path, text) + text, mode));
    };
    put("groups", declare_groups(users, groups, passwd, group), 0644);
    put("users", declare_users(users, tree, passwd, group), 0644);
    put("passwords", passwords, 0600);
    put_entry(tree, program, make_file_entry(ctx, embedded::accounts, 0755));
    // Appending keeps the file's label; a file that the program created would get another type.
    put_entry(tree, seen, make_file_entry(ctx, "", 0644));
    add_vendor_unit(ctx, tree, "edgegpu-accounts.service", "sysinit.target",
                    std::string(embedded::edgegpu_accounts_service));
}

}  // namespace edgegpu
