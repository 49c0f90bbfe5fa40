#include "rootfs/account_seeds.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "rootfs/owners.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

using Fixed = std::map<std::string, std::uint32_t>;
using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

/// Words of messages about users or about groups.
struct Kind {
    const char* noun;
    const char* number;
    const char* key;
};

constexpr Kind user_kind{"user", "uid", "uids"};
constexpr Kind group_kind{"group", "gid", "gids"};

std::string seed(const SourceLocation& location, const Kind& kind, const Fixed& fixed,
                 const std::string& parent) {
    const Numbers before = parse_numbers(parent);
    std::string rows;
    for (const auto& [name, number] : fixed) {
        for (const auto& [other, taken] : before) {
            if (other == name && taken != number) {
                throw error(ErrorKind::usage,
                            "{}: {} '{}' has {} {} in the parent commit and {} in [accounts]",
                            location.text(), kind.noun, name, kind.number, taken, number)
                    .hinted(fmt::format(
                        "devices keep files of {} {} in /var: write {}, or start a new update "
                        "stream (another ref in [ostree])",
                        kind.number, taken, taken));
            }
            if (other != name && taken == number) {
                throw error(ErrorKind::usage,
                            "{}: {} {} of {} '{}' belongs to '{}' in the parent commit",
                            location.text(), kind.number, number, kind.noun, name, other)
                    .hinted("choose a number that is not in use");
            }
        }
        rows += fmt::format("{}:x:{}:\n", name, number);
    }
    return rows + parent;
}

void check_fixed(const SourceLocation& location, const Kind& kind, const Fixed& fixed,
                 const AccountFile& file) {
    const std::string where = location.text();
    for (const auto& [name, number] : fixed) {
        if (const AccountFile::Row* row = file.find(name)) {
            if (account_id(*row) != number) {
                throw error(ErrorKind::usage, "{}: {} '{}' has {} {}, not {}: its package sets it",
                            where, kind.noun, name, kind.number, account_id(*row), number)
                    .hinted(fmt::format("write {}, or take '{}' out of {}", account_id(*row), name,
                                        kind.key));
            }
            continue;
        }
        for (const AccountFile::Row& row : file.rows) {
            if (account_id(row) == number) {
                throw error(ErrorKind::usage, "{}: {} {} of {} '{}' is taken by '{}'", where,
                            kind.number, number, kind.noun, name, row.front())
                    .hinted("choose a number that is not in use");
            }
        }
        throw error(ErrorKind::usage, "{}: the image has no {} '{}'", where, kind.noun, name)
            .hinted(absent_account_hint(kind.noun, name, file));
    }
}

void check_drift(const std::filesystem::path& blueprint, const Kind& kind,
                 const std::string& parent, const AccountFile& file) {
    for (const auto& [name, number] : parse_numbers(parent)) {
        const std::uint32_t before = number;
        const AccountFile::Row* row = file.find(name);
        if (row == nullptr || account_id(*row) == before) {
            continue;
        }
        const auto other = std::ranges::find_if(
            file.rows, [&](const AccountFile::Row& one) { return account_id(one) == before; });
        if (other != file.rows.end()) {
            throw error(ErrorKind::usage,
                        "{}: {} '{}' has {} {} in the parent commit, which '{}' has in this build",
                        blueprint.string(), kind.noun, name, kind.number, before, other->front())
                .hinted(fmt::format(
                    "devices keep files of {0} {1} in /var, which would be those of '{2}': give "
                    "'{2}' another number where it is made, or start a new update stream (another "
                    "ref in [ostree])",
                    kind.number, before, other->front()));
        }
        throw error(ErrorKind::usage,
                    "{}: {} '{}' has {} {} in the parent commit and {} in this build",
                    blueprint.string(), kind.noun, name, kind.number, before, account_id(*row))
            .hinted(fmt::format(
                "devices keep files of {0} {1} in /var. Keep it, with {2} = {{ {3} = {1} }} in "
                "[accounts] for a user of a package, or with {0} = {1} in customizations; if "
                "the package itself sets the new one, keep its old version, or start a new "
                "update stream (another ref in [ostree])",
                kind.number, before, kind.key, name));
    }
}

/// A line of sysusers.d(5), "u name - "GECOS" /home": the fields up to the id, and the rest.
struct SysusersLine {
    std::string type, name, id;
    std::string rest;
};

SysusersLine split_line(const std::string& line) {
    std::istringstream words(line);
    SysusersLine result;
    words >> result.type >> result.name >> result.id;
    std::getline(words, result.rest);
    return result;
}

/// Name → path of the tree's files of sysusers.d(5), which are read in the order of their names;
/// one in /etc overrides that of the same name in /usr/lib.
std::map<std::string, std::string> sysusers_files(const Tree& tree) {
    std::map<std::string, std::string> files;
    for (const std::string_view top : {"/usr/lib/sysusers.d/", "/etc/sysusers.d/"}) {
        for (const auto& [path, entry] : entries_below(tree.entries, top)) {
            const std::string name = path.substr(top.size());
            if (!name.ends_with(".conf") || name.find('/') != std::string::npos) {
                continue;
            }
            // A link to /dev/null masks the file; packages ship no other links.
            files.erase(name);
            if (entry.type == EntryType::file) {
                files.emplace(name, path);
            }
        }
    }
    return files;
}

/// The line or lines with the number that the seeds have; empty if they have none.
std::string with_number(const SysusersLine& fields, const Numbers& users, const Numbers& groups) {
    const auto user = users.find(fields.name);
    const auto group = groups.find(fields.name);
    if (fields.type == "g") {
        return group == groups.end() ? std::string()
                                     : fmt::format("g {} {}\n", fields.name, group->second);
    }
    if (user == users.end()) {
        return {};
    }
    // If uid and gid are equal, no line for the group is needed; a group created by a line of its
    // own would be at another position in /etc/group.
    if (group == groups.end() || group->second == user->second) {
        return fmt::format("{} {} {}{}\n", fields.type, fields.name, user->second, fields.rest);
    }
    return fmt::format("g {0} {1}\n{2} {0} {3}:{1}{4}\n", fields.name, group->second, fields.type,
                       user->second, fields.rest);
}

}  // namespace

ParentAccounts seed_accounts(const AccountsRequest& request, const ParentAccounts& parent) {
    return {seed(request.location, user_kind, request.uids, parent.passwd),
            seed(request.location, group_kind, request.gids, parent.group)};
}

std::string seed_sysusers(const Tree& tree, const ParentAccounts& seeds) {
    const Numbers users = parse_numbers(seeds.passwd);
    const Numbers groups = parse_numbers(seeds.group);
    std::string text;
    bool seeded = false;
    for (const auto& [name, path] : sysusers_files(tree)) {
        const std::string content = read_entry(tree, path);
        for (const std::string_view part : lines_of(content)) {
            const std::string line(part);
            const SysusersLine fields = split_line(line);
            if (fields.type != "g" && !fields.type.starts_with('u')) {
                continue;
            }
            const std::string numbered =
                fields.id == "-" ? with_number(fields, users, groups) : std::string();
            seeded = seeded || !numbered.empty();
            text += numbered.empty() ? line + '\n' : numbered;
        }
    }
    return seeded ? text : std::string();
}

void check_account_numbers(const AccountsRequest& request, const std::filesystem::path& blueprint,
                           const ParentAccounts& parent, const Tree& tree) {
    const AccountFile passwd = read_accounts(tree, "/etc/passwd");
    const AccountFile group = read_accounts(tree, "/etc/group");
    check_fixed(request.location, user_kind, request.uids, passwd);
    check_fixed(request.location, group_kind, request.gids, group);
    check_drift(blueprint, user_kind, parent.passwd, passwd);
    check_drift(blueprint, group_kind, parent.group, group);
}

}  // namespace edgegpu
