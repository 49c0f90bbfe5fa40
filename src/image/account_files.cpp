#include "image/account_files.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu {

namespace {

std::uint32_t find_id(const AccountFile& file, const std::string& where, std::string_view what,
                      const std::string& name) {
    if (const AccountFile::Row* row = file.find(name)) {
        return account_id(*row);
    }
    if (const auto number = whole_number<std::uint32_t>(name)) {
        return *number;
    }
    throw error(ErrorKind::usage, "{}: the image has no {} '{}'", where, what, name)
        .hinted(absent_account_hint(what, name, file));
}

}  // namespace

AccountFile::Row* AccountFile::find(std::string_view name) {
    const auto found =
        std::ranges::find_if(rows, [&](const Row& row) { return row.front() == name; });
    return found == rows.end() ? nullptr : &*found;
}

const AccountFile::Row* AccountFile::find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(rows, [&](const Row& row) { return row.front() == name; });
    return found == rows.end() ? nullptr : &*found;
}

std::string AccountFile::text() const {
    return sum_of(rows, [](const Row& row) { return fmt::format("{}\n", fmt::join(row, ":")); });
}

AccountFile parse_accounts(std::string_view text) {
    AccountFile file;
    for (const std::string_view line : split(text, '\n')) {
        if (!line.empty()) {
            const std::vector<std::string_view> fields = split(line, ':');
            file.rows.emplace_back(fields.begin(), fields.end());
        }
    }
    return file;
}

AccountFile read_accounts(const Tree& tree, std::string_view path) {
    return find_entry(tree, path) == nullptr ? AccountFile{}
                                             : parse_accounts(read_entry(tree, path));
}

std::uint32_t account_id(const AccountFile::Row& row) {
    const auto number = row.size() > 2 ? whole_number<std::uint32_t>(row[2]) : std::nullopt;
    if (!number) {
        throw error("the image's account '{}' has no number: '{}'", row.front(),
                    fmt::join(row, ":"));
    }
    return *number;
}

std::set<std::uint32_t> account_ids(const AccountFile& file) {
    return mapped_to<std::set<std::uint32_t>>(file.rows, account_id);
}

std::map<std::uint32_t, std::string> account_names(const AccountFile& file) {
    std::map<std::uint32_t, std::string> names;
    for (const AccountFile::Row& row : file.rows) {
        names.emplace(account_id(row), row.front());
    }
    return names;
}

std::string absent_account_hint(std::string_view what, std::string_view name,
                                const AccountFile& file) {
    const std::vector<std::string> names =
        mapped(file.rows, [](const AccountFile::Row& row) { return row.front(); });
    std::string near = near_names_hint(name, names);
    return near.empty() ? fmt::format(
                              "add the package that creates it, or create it: "
                              "[[customizations.{}]] with name = \"{}\"",
                              what, name)
                        : near;
}

std::vector<std::string> split_members(std::string_view list) {
    std::vector<std::string_view> members = split(list, ',');
    std::erase(members, std::string_view());
    return {members.begin(), members.end()};
}

std::map<std::string, std::uint32_t, std::less<>> parse_numbers(std::string_view file) {
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    for (const std::string_view line : split(file, '\n')) {
        const std::vector<std::string_view> fields = split(line, ':');
        const auto number =
            fields.size() > 2 ? whole_number<std::uint32_t>(fields[2]) : std::nullopt;
        if (number && !fields.front().empty()) {
            numbers.emplace(fields.front(), *number);
        }
    }
    return numbers;
}

Owner find_owner(const Tree& tree, const std::string& where, const std::string& user,
                 const std::string& group) {
    Owner owner;
    // root exists even in an image without account files.
    if (user != "root") {
        owner.uid = find_id(read_accounts(tree, "/etc/passwd"), where, "user", user);
    }
    if (group != "root") {
        owner.gid = find_id(read_accounts(tree, "/etc/group"), where, "group", group);
    }
    return owner;
}

}  // namespace edgegpu
