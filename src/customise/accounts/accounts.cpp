#include "customise/accounts/accounts.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "blueprint/toml/mistakes.hpp"
#include "customise/accounts/device_accounts.hpp"
#include "customise/accounts/user_homes.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::uint32_t first_subordinate_id = 100000;
constexpr std::uint32_t subordinate_count = 65536;

using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

std::optional<std::uint32_t> number_of(const Numbers& numbers, const std::string& name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

/// The tree's account files, parsed for editing; `write` puts them back.
class Accounts {
public:
    Accounts(const Context& ctx, const ParentAccounts& seeds, Tree& tree)
        : ctx_(ctx),
          tree_(tree),
          seeded_users_(parse_numbers(seeds.passwd)),
          seeded_groups_(parse_numbers(seeds.group)),
          passwd_(read_accounts(tree, "/etc/passwd")),
          group_(read_accounts(tree, "/etc/group")),
          shadow_(read_accounts(tree, "/etc/shadow")),
          gshadow_(read_accounts(tree, "/etc/gshadow")),
          subuid_(read_accounts(tree, "/etc/subuid")),
          subgid_(read_accounts(tree, "/etc/subgid")) {}

    void add(const GroupRequest& request);
    void add(const UserRequest& request);
    /// Keeps the Error that `work` throws until `write`, so that all are reported.
    template <typename Work>
    void attempt(Work&& work) {
        mistakes_.attempt(std::forward<Work>(work));
    }
    /// Throws what was wrong with the requests, if anything.
    void write();

private:
    std::uint32_t new_group(const std::string& where, const std::string& name,
                            std::optional<std::uint32_t> gid);
    std::uint32_t primary_group(const UserRequest& request, std::uint32_t uid);
    void new_user(const UserRequest& request);
    void change_user(const UserRequest& request, AccountFile::Row& row);
    void set_password(const UserRequest& request, bool is_new);
    void join_groups(const UserRequest& request);
    void write_file_if(const char* path, const AccountFile& file, unsigned default_mode);
    [[nodiscard]] std::uint32_t free_number() const;

    const Context& ctx_;
    Tree& tree_;
    /// Name → number that is reserved for it.
    Numbers seeded_users_, seeded_groups_;
    AccountFile passwd_, group_, shadow_, gshadow_, subuid_, subgid_;
    Mistakes mistakes_;
};

void check_name(const std::string& where, const std::string& name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    if (name.empty() || name.size() > 32 || name.front() == '-' || name == "." || name == ".." ||
        !std::ranges::all_of(name, plain)) {
        throw error(ErrorKind::usage, "{}: '{}' is not an account name", where, name)
            .hinted("letters, digits, '_', '-' and '.', at most 32");
    }
}

void check_field(const std::string& where, const std::string& value) {
    if (value.find_first_of(std::string_view(":\n\0", 3)) != std::string::npos) {
        throw error(ErrorKind::usage,
                    "{}: a field of an account contains a colon, newline or NUL: '{}'", where,
                    value);
    }
}

std::uint32_t Accounts::free_number() const {
    // A new user and its group should have the same number, so it must be free in both files.
    // Numbers of accounts that only the parent has still own files on devices.
    std::set<std::uint32_t> taken = account_ids(passwd_);
    taken.merge(account_ids(group_));
    for (const Numbers* seeded : {&seeded_users_, &seeded_groups_}) {
        for (const auto& [name, number] : *seeded) {
            taken.insert(number);
        }
    }
    for (std::uint32_t id = first_user_id; id <= last_user_id; ++id) {
        if (!taken.contains(id)) {
            return id;
        }
    }
    throw error("no free user number between {} and {}", first_user_id, last_user_id);
}

std::uint32_t Accounts::new_group(const std::string& where, const std::string& name,
                                  std::optional<std::uint32_t> gid) {
    check_name(where, name);
    if (const AccountFile::Row* existing = group_.find(name)) {
        throw error(ErrorKind::usage, "{}: group '{}' exists with gid {}, not {}", where, name,
                    account_id(*existing), gid.value_or(0));
    }
    if (!gid) {
        gid = number_of(seeded_groups_, name);
    }
    const std::uint32_t number = gid ? *gid : free_number();
    for (const AccountFile::Row& row : group_.rows) {
        if (account_id(row) == number) {
            throw error(ErrorKind::usage, "{}: gid {} of group '{}' is taken by group '{}'", where,
                        number, name, row.front());
        }
    }
    group_.rows.push_back({name, "x", std::to_string(number), ""});
    gshadow_.rows.push_back({name, "!", "", ""});
    return number;
}

void Accounts::add(const GroupRequest& request) {
    const std::string where = request.location.text();
    const AccountFile::Row* existing = group_.find(request.name);
    const bool same =
        existing != nullptr && request.gid.value_or(account_id(*existing)) == account_id(*existing);
    if (!same) {
        new_group(where, request.name, request.gid);
    }
}

std::uint32_t Accounts::primary_group(const UserRequest& request, std::uint32_t uid) {
    const std::string where = request.location.text();
    if (request.gid) {
        const auto names = account_names(group_);
        return names.contains(*request.gid) ? *request.gid
                                            : new_group(where, request.name, request.gid);
    }
    if (const AccountFile::Row* own = group_.find(request.name)) {
        return account_id(*own);
    }
    const bool same_is_free =
        !account_ids(group_).contains(uid) && !seeded_groups_.contains(request.name);
    return new_group(where, request.name, same_is_free ? std::optional(uid) : std::nullopt);
}

void Accounts::set_password(const UserRequest& request, bool is_new) {
    AccountFile::Row* row = shadow_.find(request.name);
    if (row == nullptr && (is_new || request.password || request.expire_date)) {
        // "*" matches no password, but unlike "!" does not lock the account: keys still work.
        row = &shadow_.rows.emplace_back(
            AccountFile::Row{request.name, "*", "", "0", "99999", "7", "", "", ""});
    }
    if (row == nullptr) {
        return;
    }
    row->resize(9);
    if (request.password) {
        (*row)[1] = *request.password;
    }
    if (request.force_password_reset) {
        (*row)[2] = std::to_string(0);  // day of the last change, as `chage -d 0` sets it
    }
    if (request.expire_date) {
        (*row)[7] = std::to_string(*request.expire_date);
    }
}

void Accounts::join_groups(const UserRequest& request) {
    for (const std::string& name : request.groups) {
        AccountFile::Row* row = group_.find(name);
        if (row == nullptr) {
            mistakes_.add(error(ErrorKind::usage, "{}: the image has no group '{}' for user '{}'",
                                request.location.text(), name, request.name)
                              .hinted(absent_account_hint("group", name, group_)));
            continue;
        }
        const auto join = [&](AccountFile::Row& group_row) {
            group_row.resize(std::max<std::size_t>(group_row.size(), 4));
            std::vector<std::string> members = split_members(group_row[3]);
            if (std::ranges::find(members, request.name) == members.end()) {
                members.push_back(request.name);
                group_row[3] = fmt::format("{}", fmt::join(members, ","));
            }
        };
        join(*row);
        if (AccountFile::Row* shadow_row = gshadow_.find(name)) {
            join(*shadow_row);
        }
    }
}

void add_subordinates(AccountFile& file, const std::string& name) {
    if (file.find(name) != nullptr) {
        return;
    }
    std::uint32_t start = first_subordinate_id;
    for (const AccountFile::Row& row : file.rows) {
        if (row.size() == 3) {
            start = std::max<std::uint32_t>(
                start, static_cast<std::uint32_t>(std::strtoul(row[1].c_str(), nullptr, 10) +
                                                  std::strtoul(row[2].c_str(), nullptr, 10)));
        }
    }
    file.rows.push_back({name, std::to_string(start), std::to_string(subordinate_count)});
}

void Accounts::new_user(const UserRequest& request) {
    const std::string where = request.location.text();
    check_name(where, request.name);
    const auto seeded = number_of(seeded_users_, request.name);
    const std::uint32_t uid = request.uid ? *request.uid : seeded ? *seeded : free_number();
    for (const AccountFile::Row& row : passwd_.rows) {
        if (account_id(row) == uid) {
            throw error(ErrorKind::usage, "{}: uid {} of user '{}' is taken by user '{}'", where,
                        uid, request.name, row.front());
        }
    }
    const std::uint32_t gid = primary_group(request, uid);
    const std::string bash = find_entry(tree_, "/bin/bash") != nullptr ? "/bin/bash" : "/bin/sh";
    passwd_.rows.push_back({request.name, "x", std::to_string(uid), std::to_string(gid),
                            request.description,
                            request.home.empty() ? "/home/" + request.name : request.home,
                            request.shell.empty() ? bash : request.shell});
    if (uid >= first_user_id) {
        // As useradd does; rootless containers need them.
        add_subordinates(subuid_, request.name);
        add_subordinates(subgid_, request.name);
    }
}

void Accounts::change_user(const UserRequest& request, AccountFile::Row& row) {
    const std::string where = request.location.text();
    row.resize(std::max<std::size_t>(row.size(), 7));
    if (request.uid && account_id(row) != *request.uid) {
        throw error(ErrorKind::usage, "{}: user '{}' exists with uid {}, not {}", where,
                    request.name, row[2], *request.uid);
    }
    if (request.gid) {
        row[3] = std::to_string(primary_group(request, account_id(row)));
    }
    const auto set = [&](std::size_t field, const std::string& value) {
        if (!value.empty()) {
            row[field] = value;
        }
    };
    set(4, request.description);
    set(5, request.home);
    set(6, request.shell);
}

void Accounts::add(const UserRequest& request) {
    const std::string where = request.location.text();
    for (const std::string* field : {&request.description, &request.home, &request.shell}) {
        check_field(where, *field);
    }
    check_field(where, request.password.value_or(""));
    if (!request.home.empty() && request.home.front() != '/') {
        throw error(ErrorKind::usage, "{}: home '{}' of user '{}' is not an absolute path", where,
                    request.home, request.name);
    }
    if (!request.shell.empty()) {
        const Entry* shell = find_entry(tree_, request.shell);
        if (shell == nullptr) {
            throw error(ErrorKind::usage, "{}: the image has no '{}', the shell of user '{}'",
                        where, request.shell, request.name)
                .hinted("add the package that contains it, or omit 'shell'");
        }
        if (shell->type != EntryType::file || (shell->mode & 0111U) == 0) {
            throw error(ErrorKind::usage, "{}: '{}', the shell of user '{}', is no program", where,
                        request.shell, request.name)
                .hinted("name a program, or omit 'shell'");
        }
    }
    AccountFile::Row* existing = passwd_.find(request.name);
    if (existing != nullptr) {
        change_user(request, *existing);
    } else {
        new_user(request);
    }
    set_password(request, existing == nullptr);
    join_groups(request);
}

void Accounts::write_file_if(const char* path, const AccountFile& file, unsigned default_mode) {
    const Entry* old = find_entry(tree_, path);
    if (old == nullptr && file.rows.empty()) {
        return;
    }
    Entry entry = make_file_entry(ctx_, file.text(), old != nullptr ? old->mode : default_mode);
    if (old != nullptr) {
        entry.uid = old->uid;
        entry.gid = old->gid;
    }
    put_entry(tree_, path, entry);
}

void Accounts::write() {
    mistakes_.throw_any("");
    write_file_if("/etc/passwd", passwd_, 0644);
    write_file_if("/etc/group", group_, 0644);
    write_file_if("/etc/shadow", shadow_, 0000);
    write_file_if("/etc/gshadow", gshadow_, 0000);
    write_file_if("/etc/subuid", subuid_, 0644);
    write_file_if("/etc/subgid", subgid_, 0644);
}

}  // namespace

void add_accounts(const Context& ctx, const std::vector<UserRequest>& users,
                  const std::vector<GroupRequest>& groups, const ParentAccounts& seeds,
                  Tree& tree) {
    if (users.empty() && groups.empty()) {
        return;
    }
    Accounts accounts(ctx, seeds, tree);
    for (const GroupRequest& request : groups) {
        accounts.attempt([&] { accounts.add(request); });
    }
    for (const UserRequest& request : users) {
        accounts.attempt([&] { accounts.add(request); });
    }
    accounts.write();
    if (!users.empty()) {
        add_homes(ctx, users, tree);
    }
    declare_accounts(ctx, users, groups, tree);
}

}  // namespace edgegpu
