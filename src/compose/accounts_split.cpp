#include "compose/accounts_split.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "image/account_files.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

bool is_ordinary(const AccountFile::Row& row) {
    const std::uint32_t id = account_id(row);
    return id >= first_user_id && id <= last_user_id;
}

/// Whether the image's C library finds the module: in a directory of 64-bit libraries, or in
/// /usr/lib, which in other images has 32-bit ones, if there is no C library elsewhere.
bool has_altfiles(const Tree& tree) {
    const auto has = [&](const char* directory, const char* library) {
        return find_entry(tree, fmt::format("{}/{}", directory, library)) != nullptr;
    };
    constexpr const char* module = "libnss_altfiles.so.2";
    bool has_libc = false;
    for (const char* directory :
         {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
        if (has(directory, module)) {
            return true;
        }
        has_libc = has_libc || has(directory, "libc.so.6");
    }
    return !has_libc && has("/usr/lib", module);
}

bool stays_in_etc_group(const AccountFile::Row& row, const std::set<std::string>& ordinary) {
    if (row.front() == "root" || row.front() == "wheel" || is_ordinary(row)) {
        return true;
    }
    const std::vector<std::string> members =
        split_members(row.size() > 3 ? std::string_view(row[3]) : std::string_view());
    return std::ranges::any_of(
        members, [&](const std::string& member) { return ordinary.contains(member); });
}

/// The text of nsswitch.conf with altfiles: "passwd: files systemd" → "passwd: files altfiles
/// systemd".
std::string with_altfiles(const std::string& text) {
    std::string result;
    for (const std::string_view part : lines_of(text)) {
        std::string line(part);
        const bool accounts = line.starts_with("passwd:") || line.starts_with("group:");
        if (accounts && line.find("altfiles") == std::string::npos) {
            const std::size_t files = line.find("files");
            line.insert(files == std::string::npos ? line.size() : files + 5, " altfiles");
        }
        result += line + '\n';
    }
    return result;
}

void replace_content(const Context& ctx, Tree& tree, const std::string& path,
                     const std::string& text) {
    const Entry* old = find_entry(tree, path);
    Entry entry = make_file_entry(ctx, text, old != nullptr ? old->mode : 0644);
    entry.uid = old != nullptr ? old->uid : 0;
    entry.gid = old != nullptr ? old->gid : 0;
    tree.entries[resolve_in_tree(tree, path)] = entry;
}

}  // namespace

void split_accounts(const Context& ctx, Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile group = read_accounts(tree, "/etc/group");
    AccountFile etc_passwd;
    AccountFile lib_passwd;
    std::set<std::string> ordinary;
    for (const AccountFile::Row& row : passwd.rows) {
        const bool is_user = is_ordinary(row);
        if (is_user) {
            ordinary.insert(row.front());
        }
        (is_user || row.front() == "root" ? etc_passwd : lib_passwd).rows.push_back(row);
        if (row.front() == "root") {
            lib_passwd.rows.push_back(row);
        }
    }
    AccountFile etc_group;
    AccountFile lib_group;
    for (const AccountFile::Row& row : group.rows) {
        if (stays_in_etc_group(row, ordinary)) {
            etc_group.rows.push_back(row);
        }
        if (!is_ordinary(row)) {
            lib_group.rows.push_back(row);
        }
    }
    put_entry(tree, "/usr/lib/passwd", make_file_entry(ctx, lib_passwd.text(), 0644));
    put_entry(tree, "/usr/lib/group", make_file_entry(ctx, lib_group.text(), 0644));
    if (has_altfiles(tree) && find_entry(tree, "/etc/nsswitch.conf") != nullptr) {
        replace_content(ctx, tree, "/etc/passwd", etc_passwd.text());
        replace_content(ctx, tree, "/etc/group", etc_group.text());
        replace_content(ctx, tree, "/etc/nsswitch.conf",
                        with_altfiles(read_entry(tree, "/etc/nsswitch.conf")));
    }
}

}  // namespace edgegpu
