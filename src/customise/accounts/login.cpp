#include "customise/accounts/login.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "image/account_files.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/number.hpp"

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

}  // namespace

void require_login(const std::vector<UserRequest>& users, LoginSource source, std::int64_t time,
                   const Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile shadow = read_accounts(tree, "/etc/shadow");
    const bool sshd = sshd_starts(tree);
    std::vector<std::string> reasons;
    const UserRequest* first = nullptr;
    for (const UserRequest& user : users) {
        if (user.key.empty() && !user.password) {
            continue;
        }
        const std::string reason = why_not(user, sshd, time, passwd, shadow);
        if (reason.empty()) {
            return;
        }
        first = first == nullptr ? &user : first;
        reasons.push_back(fmt::format("{} {}", user.name, reason));
    }
    if (first == nullptr || source != LoginSource::image) {
        return;
    }
    Error failure = error_at(first->location, "nobody could log in to this image");
    for (const std::string& reason : reasons) {
        failure.traced(reason);
    }
    throw failure.hinted(
        "add openssh-server and enable sshd, or give a user a password; or say who adds users, or "
        "that nobody is to log in: [accounts] login = \"provisioned\", or \"none\"");
}

}  // namespace edgegpu
