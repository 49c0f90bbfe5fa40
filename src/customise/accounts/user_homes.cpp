#include "customise/accounts/user_homes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "customise/accounts/sshd_config.hpp"
#include "image/account_files.hpp"
#include "support/text/deployed_path.hpp"
#include "support/text/text.hpp"
#include "support/tmpfiles_line.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view key_directory = "/usr/share/edgegpu/authorized_keys.d";

/// Lines of tmpfiles.d(5) that create a user's home directory with the content of /etc/skel.
std::string home_lines(const Tree& tree, const AccountFile::Row& user, const std::string& group) {
    const std::string& name = user.front();
    const std::string home =
        tree.update_system == UpdateSystem::snapshots ? user[5] : deployed_path(user[5]);
    std::string lines = fmt::format("d {} 0700 {} {} -\n", tmpfiles_path(home), name, group);
    const std::string skel = "/etc/skel/";
    for (const auto& [path, entry] : entries_below(tree.entries, skel)) {
        const std::string target = tmpfiles_path(home + "/" + path.substr(skel.size()));
        if (entry.type == EntryType::directory) {
            lines += fmt::format("d {} {:04o} {} {} -\n", target, entry.mode, name, group);
        } else if (entry.type == EntryType::file) {
            lines += fmt::format("C {} {:04o} {} {} - {}\n", target, entry.mode, name, group,
                                 tmpfiles_argument(path));
        }
    }
    return lines + fmt::format("d {} 0700 {} {} -\n", tmpfiles_path(home + "/.ssh"), name, group);
}

constexpr const char* homes_file = "/usr/lib/tmpfiles.d/edgegpu-users.conf";

/// The lines of `[parent]` for the homes of its other users.
std::string parent_homes(const std::vector<UserRequest>& users, const Tree& tree) {
    const std::string text =
        find_entry(tree, homes_file) == nullptr ? std::string() : read_entry(tree, homes_file);
    std::string kept;
    for (const std::string_view line : lines_of(text)) {
        const std::optional<TmpfilesLine> parsed = parse_tmpfiles_line(line);
        if (parsed && std::ranges::find(users, parsed->user, &UserRequest::name) == users.end()) {
            kept += fmt::format("{}\n", line);
        }
    }
    return kept;
}

/// Whether a home directory is the device's, and not one of the directories that several users
/// share.
bool is_of_device(const std::string& home) {
    return deployed_path(home).starts_with("/var/") &&
           (home == "/root" || std::ranges::find(moved_directories, home, &MovedDirectory::path) ==
                                   moved_directories.end());
}

}  // namespace

void add_homes(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const auto group_names = account_names(read_accounts(tree, "/etc/group"));
    std::string lines =
        "# Home directories of the blueprint's users: made at boot, where they are the device's.\n";
    lines += parent_homes(users, tree);
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        if (is_of_device(user[5])) {
            const auto gid = static_cast<std::uint32_t>(std::strtoul(user[3].c_str(), nullptr, 10));
            const auto group = group_names.find(gid);
            lines += home_lines(tree, user, group == group_names.end() ? user[3] : group->second);
        } else if (!(request.key.empty() && !request.password) &&
                   find_entry(tree, user[5]) == nullptr) {
            ctx.console->warn(fmt::format(
                "{}: nobody makes {}, the home directory of user '{}', which is not in /var: "
                "leave out 'home', or make it on devices (systemd-tmpfiles)",
                request.location.text(), user[5], request.name));
        }
    }
    put_entry(tree, homes_file, make_file_entry(ctx, lines, 0644));
}

void add_keys(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree) {
    bool any = false;
    for (const UserRequest& request : users) {
        if (!request.key.empty()) {
            any = true;
            const bool complete = request.key.back() == '\n';
            put_entry(tree, fmt::format("{}/{}", key_directory, request.name),
                      make_file_entry(ctx, complete ? request.key : request.key + "\n", 0644));
        }
    }
    if (any) {
        add_authorized_keys_file(ctx, authorized_keys_file, tree);
    }
}

}  // namespace edgegpu
