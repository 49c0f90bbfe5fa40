#include "customise/accounts/user_homes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <strings.h>

#include "image/account_files.hpp"
#include "support/text.hpp"

namespace edgegpu {

namespace {

constexpr std::string_view key_directory = "/usr/share/edgegpu/authorized_keys.d";
/// sshd's default for AuthorizedKeysFile.
constexpr const char* usual_key_files = ".ssh/authorized_keys .ssh/authorized_keys2";

/// A line of sshd_config(5): keyword (case-insensitive) and arguments, separated by white space or
/// '='.
struct SshdLine {
    std::string keyword;
    std::string arguments;
};

SshdLine split_sshd_line(std::string_view line) {
    constexpr const char* space = " \t\r";
    const std::size_t first = line.find_first_not_of(space);
    if (first == std::string_view::npos || line[first] == '#') {
        return {};
    }
    const std::size_t end = std::min(line.find_first_of(" \t\r=", first), line.size());
    const std::size_t rest = line.find_first_not_of(" \t\r=", end);
    SshdLine result;
    result.keyword = line.substr(first, end - first);
    if (rest != std::string_view::npos) {
        result.arguments = line.substr(rest, line.find_last_not_of(space) + 1 - rest);
    }
    return result;
}

bool is_keyword(const SshdLine& line, const char* keyword) {
    return ::strcasecmp(line.keyword.c_str(), keyword) == 0;
}

/// The value of AuthorizedKeysFile for all users: the first one before any Match block.
std::optional<std::string> key_files(const std::string& config) {
    for (const std::string_view text : lines_of(config)) {
        const SshdLine line = split_sshd_line(text);
        if (is_keyword(line, "Match")) {
            break;
        }
        if (is_keyword(line, "AuthorizedKeysFile")) {
            return line.arguments;
        }
    }
    return std::nullopt;
}

bool includes_drop_ins(const std::string& config) {
    for (const std::string_view text : lines_of(config)) {
        const SshdLine line = split_sshd_line(text);
        if (is_keyword(line, "Include") &&
            line.arguments.find("/etc/ssh/sshd_config.d/") != std::string::npos) {
            return true;
        }
    }
    return false;
}

/// The files of AuthorizedKeysFile with `more` added; "none" means no file at all.
std::string joined(const std::optional<std::string>& files, const std::string& more) {
    if (!files || files->empty()) {
        return fmt::format("{} {}", usual_key_files, more);
    }
    return *files == "none" ? more : fmt::format("{} {}", *files, more);
}

void tell_sshd(const Context& ctx, Tree& tree) {
    const char* path = "/etc/ssh/sshd_config";
    const Entry* old = find_entry(tree, path);
    if (old == nullptr) {
        ctx.console->warn("the image has no sshd that would read the keys of its users");
        return;
    }
    const std::string config = read_entry(tree, path);
    const std::string file = fmt::format("{}/%u", key_directory);
    if (includes_drop_ins(config)) {
        put_entry(
            tree, "/etc/ssh/sshd_config.d/20-edgegpu.conf",
            make_file_entry(ctx,
                            fmt::format("# Keys of the blueprint's users come with the image.\n"
                                        "AuthorizedKeysFile {}\n",
                                        joined(key_files(config), file)),
                            0644));
        return;
    }
    Entry entry = make_file_entry(ctx, with_authorized_keys(config, file), old->mode);
    entry.uid = old->uid;
    entry.gid = old->gid;
    put_entry(tree, path, entry);
}

/// Lines of tmpfiles.d(5) that create a user's home directory with the content of /etc/skel.
std::string home_lines(const Tree& tree, const AccountFile::Row& user, const std::string& group) {
    const std::string& name = user.front();
    const std::string home = deployed_home(user[5]);
    std::string lines = fmt::format("d {} 0700 {} {} -\n", home, name, group);
    const std::string skel = "/etc/skel/";
    for (const auto& [path, entry] : entries_below(tree.entries, skel)) {
        const std::string target = home + "/" + path.substr(skel.size());
        if (entry.type == EntryType::directory) {
            lines += fmt::format("d {} {:04o} {} {} -\n", target, entry.mode, name, group);
        } else if (entry.type == EntryType::file) {
            lines += fmt::format("C {} {:04o} {} {} - {}\n", target, entry.mode, name, group, path);
        }
    }
    return lines + fmt::format("d {}/.ssh 0700 {} {} -\n", home, name, group);
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

std::string with_authorized_keys(const std::string& config, const std::string& file) {
    const std::string wanted = "AuthorizedKeysFile " + joined(key_files(config), file);
    std::vector<std::string_view> lines = lines_of(config);
    auto at = lines.begin();
    for (; at != lines.end(); ++at) {
        const SshdLine line = split_sshd_line(*at);
        if (is_keyword(line, "AuthorizedKeysFile")) {
            *at = wanted;
            return fmt::format("{}\n", fmt::join(lines, "\n"));
        }
        if (is_keyword(line, "Match")) {
            break;
        }
    }
    lines.insert(at, wanted);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
}

void add_homes(const Context& ctx, const std::vector<UserRequest>& users, Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const auto group_names = account_names(read_accounts(tree, "/etc/group"));
    std::string lines = "# Home directories of the blueprint's users: made at boot, in /var.\n";
    for (const UserRequest& request : users) {
        const AccountFile::Row& user = *passwd.find(request.name);
        if (deployed_home(user[5]).starts_with("/var/")) {
            const auto gid = static_cast<std::uint32_t>(std::strtoul(user[3].c_str(), nullptr, 10));
            const auto group = group_names.find(gid);
            lines += home_lines(tree, user, group == group_names.end() ? user[3] : group->second);
        }
    }
    put_entry(tree, "/usr/lib/tmpfiles.d/edgegpu-users.conf", make_file_entry(ctx, lines, 0644));
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
        tell_sshd(ctx, tree);
    }
}

}  // namespace edgegpu
