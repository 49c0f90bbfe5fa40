#include "customise/accounts.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compose/account_files.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

constexpr std::uint32_t first_subordinate_id = 100000;
constexpr std::uint32_t subordinate_count = 65536;

/// The account files of the tree while they are edited.
class Accounts {
public:
    Accounts(const Context& ctx, Tree& tree)
        : ctx_(ctx),
          tree_(tree),
          passwd_(read_accounts(tree, "/etc/passwd")),
          group_(read_accounts(tree, "/etc/group")),
          shadow_(read_accounts(tree, "/etc/shadow")),
          gshadow_(read_accounts(tree, "/etc/gshadow")),
          subuid_(read_accounts(tree, "/etc/subuid")),
          subgid_(read_accounts(tree, "/etc/subgid")) {}

    void add(const GroupRequest& request);
    void add(const UserRequest& request);
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
    AccountFile passwd_, group_, shadow_, gshadow_, subuid_, subgid_;
};

void check_name(const std::string& where, const std::string& name) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.';
    };
    if (name.empty() || name.size() > 32 || name.front() == '-' || name == "." || name == ".." ||
        !std::all_of(name.begin(), name.end(), plain)) {
        throw error(ErrorKind::usage, "{}: '{}' is not an account name", where, name)
            .hinted("letters, digits, '_', '-' and '.', at most 32");
    }
}

void check_field(const std::string& where, const std::string& value) {
    if (value.find_first_of(std::string_view(":\n\0", 3)) != std::string::npos) {
        throw error(ErrorKind::usage,
                    "{}: a colon, newline or NUL cannot stand in an account: '{}'", where, value);
    }
}

std::uint32_t Accounts::free_number() const {
    // A new user's group should have the user's number: take one that neither file uses.
    std::set<std::uint32_t> taken = account_ids(passwd_);
    taken.merge(account_ids(group_));
    for (std::uint32_t id = first_user_id; id < end_user_id; ++id) {
        if (!taken.contains(id)) {
            return id;
        }
    }
    throw error("no free user number between {} and {}", first_user_id, end_user_id);
}

std::uint32_t Accounts::new_group(const std::string& where, const std::string& name,
                                  std::optional<std::uint32_t> gid) {
    check_name(where, name);
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
    if (existing == nullptr) {
        new_group(where, request.name, request.gid);
    } else if (request.gid && account_id(*existing) != *request.gid) {
        throw error(ErrorKind::usage, "{}: group '{}' exists with gid {}, not {}", where,
                    request.name, account_id(*existing), *request.gid);
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
    const bool same_is_free = !account_ids(group_).contains(uid);
    return new_group(where, request.name, same_is_free ? std::optional(uid) : std::nullopt);
}

void Accounts::set_password(const UserRequest& request, bool is_new) {
    if (AccountFile::Row* row = shadow_.find(request.name)) {
        if (request.password && row->size() > 1) {
            (*row)[1] = *request.password;
        }
    } else if (is_new || request.password) {
        // "*" fits no password, yet unlike "!" does not count as locked: a key still logs in.
        shadow_.rows.push_back(
            {request.name, request.password.value_or("*"), "", "0", "99999", "7", "", "", ""});
    }
}

void Accounts::join_groups(const UserRequest& request) {
    for (const std::string& name : request.groups) {
        AccountFile::Row* row = group_.find(name);
        if (row == nullptr) {
            std::vector<std::string> names;
            for (const AccountFile::Row& known : group_.rows) {
                names.push_back(known.front());
            }
            throw error(ErrorKind::usage, "{}: the image has no group '{}' for user '{}'",
                        request.location.text(), name, request.name)
                .hinted(near_names_hint(name, names));
        }
        const auto join = [&](AccountFile::Row& group_row) {
            group_row.resize(std::max<std::size_t>(group_row.size(), 4));
            std::vector<std::string> members = split_members(group_row[3]);
            if (std::find(members.begin(), members.end(), request.name) == members.end()) {
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
    const std::uint32_t uid = request.uid ? *request.uid : free_number();
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
        // As useradd does: rootless containers need them.
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
    if (!request.shell.empty() && find_entry(tree_, request.shell) == nullptr) {
        throw error(ErrorKind::usage, "{}: the image has no '{}', the shell of user '{}'", where,
                    request.shell, request.name)
            .hinted("add the package that brings it, or leave out 'shell'");
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
    write_file_if("/etc/passwd", passwd_, 0644);
    write_file_if("/etc/group", group_, 0644);
    write_file_if("/etc/shadow", shadow_, 0000);
    write_file_if("/etc/gshadow", gshadow_, 0000);
    write_file_if("/etc/subuid", subuid_, 0644);
    write_file_if("/etc/subgid", subgid_, 0644);
}

bool sshd_reads_drop_ins(const Tree& tree) {
    if (find_entry(tree, "/etc/ssh/sshd_config") == nullptr) {
        return false;
    }
    const std::string text = "\n" + read_entry(tree, "/etc/ssh/sshd_config");
    return text.find("\nInclude /etc/ssh/sshd_config.d/") != std::string::npos;
}

/// Lines that make one home directory, with what /etc/skel has.
std::string home_lines(const Tree& tree, const AccountFile::Row& user, const std::string& group,
                       bool copy_key) {
    const std::string& name = user.front();
    const std::string home = deployed_home(user[5]);
    std::string lines = fmt::format("d {} 0700 {} {} -\n", home, name, group);
    const std::string skel = "/etc/skel/";
    for (auto at = tree.entries.lower_bound(skel);
         at != tree.entries.end() && at->first.starts_with(skel); ++at) {
        const auto& [path, entry] = *at;
        const std::string target = home + "/" + path.substr(skel.size());
        if (entry.type == EntryType::directory) {
            lines += fmt::format("d {} {:04o} {} {} -\n", target, entry.mode, name, group);
        } else if (entry.type == EntryType::file) {
            lines += fmt::format("C {} {:04o} {} {} - {}\n", target, entry.mode, name, group, path);
        }
    }
    lines += fmt::format("d {}/.ssh 0700 {} {} -\n", home, name, group);
    if (copy_key) {
        lines +=
            fmt::format("C {}/.ssh/authorized_keys 0600 {} {} - /etc/ssh/authorized_keys.d/{}\n",
                        home, name, group, name);
    }
    return lines;
}

void write_homes_and_keys(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const auto group_names = account_names(read_accounts(tree, "/etc/group"));
    const bool drop_ins = sshd_reads_drop_ins(tree);
    bool any_key = false;
    std::string lines = "# Home directories of the blueprint's users: made at boot, in /var.\n";
    for (const UserRequest& request : blueprint.users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        if (!request.key.empty()) {
            any_key = true;
            const bool complete = request.key.back() == '\n';
            put_entry(tree, "/etc/ssh/authorized_keys.d/" + request.name,
                      make_file_entry(ctx, complete ? request.key : request.key + "\n", 0644));
        }
        const std::string home = deployed_home(user[5]);
        if (home.starts_with("/var/")) {
            const auto gid = static_cast<std::uint32_t>(std::strtoul(user[3].c_str(), nullptr, 10));
            const auto group = group_names.find(gid);
            lines += home_lines(tree, user, group == group_names.end() ? user[3] : group->second,
                                !request.key.empty() && !drop_ins);
        }
    }
    put_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-users.conf", make_file_entry(ctx, lines, 0644));
    if (any_key && drop_ins) {
        put_entry(tree, "/etc/ssh/sshd_config.d/20-edgegpu.conf",
                  make_file_entry(ctx,
                                  "# Keys of the blueprint's users come with the image.\n"
                                  "AuthorizedKeysFile .ssh/authorized_keys "
                                  "/etc/ssh/authorized_keys.d/%u\n",
                                  0644));
    }
}

}  // namespace

std::string deployed_home(const std::string& home) {
    if (home == "/root" || home.starts_with("/root/")) {
        return "/var/roothome" + home.substr(5);
    }
    for (const char* top : {"/home/", "/srv/", "/opt/", "/mnt/"}) {
        if (home.starts_with(top)) {
            return "/var" + home;
        }
    }
    return home;
}

void add_accounts(const Context& ctx, const Blueprint& blueprint, Tree& tree) {
    if (blueprint.users.empty() && blueprint.groups_to_add.empty()) {
        return;
    }
    Accounts accounts(ctx, tree);
    for (const GroupRequest& request : blueprint.groups_to_add) {
        accounts.add(request);
    }
    for (const UserRequest& request : blueprint.users) {
        accounts.add(request);
    }
    accounts.write();
    if (!blueprint.users.empty()) {
        write_homes_and_keys(ctx, blueprint, tree);
    }
}

}  // namespace edgegpu
