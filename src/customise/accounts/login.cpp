#include "customise/accounts/login.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "customise/accounts/sshd_settings.hpp"
#include "customise/accounts/user_homes.hpp"
#include "image/account_files.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

/// Whether a target or socket starts sshd.
bool sshd_starts(const Tree& tree) {
    return std::ranges::any_of(tree.entries, [](const auto& entry) {
        const std::string_view path = entry.first;
        const std::size_t wants = path.find(".wants/");
        if (wants == std::string_view::npos ||
            path.find("/systemd/system/") == std::string_view::npos) {
            return false;
        }
        const std::string_view unit = path.substr(wants + std::string_view(".wants/").size());
        return unit == "sshd.service" || unit == "ssh.service" || unit == "sshd.socket" ||
               unit == "ssh.socket";
    });
}

std::string field_of(const AccountFile::Row* row, std::size_t number) {
    return row != nullptr && row->size() > number ? (*row)[number] : std::string();
}

/// Why the user cannot log in, or empty.
std::string why_not(const UserRequest& user, bool sshd, std::int64_t time,
                    const AccountFile& passwd, const AccountFile& shadow) {
    const AccountFile::Row* const row = shadow.find(user.name);
    const std::string shell = field_of(passwd.find(user.name), 6);
    const std::string expires = field_of(row, 7);
    constexpr std::int64_t day = 86400;
    if (refuses_login(shell)) {
        return "has the shell " + shell;
    }
    if (!expires.empty() && leading_number<std::int64_t>(expires) <= time / day) {
        return "had expired before the image was made (expiredate)";
    }
    if (is_usable_password(field_of(row, 1))) {
        return {};
    }
    if (user.key.empty()) {
        return "has a password that is locked";
    }
    return sshd ? std::string()
                : std::string("has a key and no password, and no sshd starts in the image");
}

std::vector<std::string> groups_of(const std::string& user, const AccountFile& passwd,
                                   const AccountFile& group) {
    std::vector<std::string> names;
    const std::string own = field_of(passwd.find(user), 3);
    for (const AccountFile::Row& row : group.rows) {
        const std::string all = row.size() > 3 ? row[3] : std::string();
        const auto members = words_of(all, ",");
        if (field_of(&row, 2) == own || std::ranges::find(members, user) != members.end()) {
            names.push_back(row.front());
        }
    }
    return names;
}

/// What sshd says of those who have a key, where the blueprint has a part in its configuration:
/// that of packages lets in whom `add_keys` gives a key.
std::map<std::string, SshdSettings> settings_of(const Context& ctx,
                                                const std::vector<UserRequest>& users,
                                                const PlacedPaths& placed, const Tree& tree) {
    const auto configuration = placed.lower_bound("/etc/ssh/");
    std::vector<std::string> names;
    for (const UserRequest& user : users) {
        if (!user.key.empty()) {
            names.push_back(user.name);
        }
    }
    const bool asked = configuration != placed.end() &&
                       configuration->first.starts_with("/etc/ssh/") && !names.empty() &&
                       find_entry(tree, "/usr/sbin/sshd") != nullptr;
    return asked ? ask_sshd(ctx, names, tree) : std::map<std::string, SshdSettings>();
}

/// Of users that were given a key or password to log in with. A locked password is one not to.
void warn_of_refused(const Context& ctx,
                     const std::vector<std::pair<const UserRequest*, std::string>>& refused) {
    for (const auto& [user, reason] : refused) {
        if (!user->key.empty() || is_usable_password(user->password.value_or("*"))) {
            ctx.console->warn(fmt::format("{}: cannot log in: {}", user->location.text(), reason));
        }
    }
}

}  // namespace

void require_login(const Context& ctx, const std::vector<UserRequest>& users, LoginSource source,
                   const PlacedPaths& placed, const Tree& tree) {
    if (source == LoginSource::none) {
        return;
    }
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile shadow = read_accounts(tree, "/etc/shadow");
    const AccountFile group = read_accounts(tree, "/etc/group");
    const bool sshd = sshd_starts(tree);
    const std::map<std::string, SshdSettings> settings = settings_of(ctx, users, placed, tree);
    std::vector<std::pair<const UserRequest*, std::string>> refused;
    bool somebody = source != LoginSource::image;
    for (const UserRequest& user : users) {
        if (user.key.empty() && !user.password) {
            continue;
        }
        std::string reason = why_not(user, sshd, ctx.source_date_epoch, passwd, shadow);
        const auto asked = settings.find(user.name);
        if (reason.empty() && asked != settings.end() &&
            !is_usable_password(field_of(shadow.find(user.name), 1))) {
            reason = sshd_refusal(asked->second, user.name, groups_of(user.name, passwd, group),
                                  authorized_keys_file);
        }
        if (reason.empty()) {
            somebody = true;
        } else {
            refused.emplace_back(&user, fmt::format("{} {}", user.name, reason));
        }
    }
    if (refused.empty()) {
        return;
    }
    if (somebody) {
        warn_of_refused(ctx, refused);
        return;
    }
    Error failure = error_at(refused.front().first->location, "nobody could log in to this image");
    for (const auto& [user, reason] : refused) {
        failure.traced(reason);
    }
    throw failure.hinted(
        "add openssh-server and enable sshd, or give a user a password; or say who adds users, or "
        "that nobody is to log in: [accounts] login = \"provisioned\", or \"none\"");
}

}  // namespace edgegpu
