#include "compose/composition_key.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "compose/composition_cache.hpp"
#include "rootfs/shims.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

using Numbers = std::map<std::string, std::uint32_t, std::less<>>;

/// Users and groups with their numbers.
struct AccountNumbers {
    Numbers users;
    Numbers groups;
};

AccountNumbers numbers_of(const ParentAccounts& accounts) {
    return {parse_numbers(accounts.passwd), parse_numbers(accounts.group)};
}

AccountNumbers numbers_of(const Tree& tree) {
    const auto text = [&](const char* path) {
        return find_entry(tree, path) == nullptr ? std::string() : read_entry(tree, path);
    };
    return numbers_of(ParentAccounts{text("/etc/passwd"), text("/etc/group")});
}

/// The name of a record or a result: a digest of everything that it depends on.
std::string entry_name(const std::string& packages, std::string_view kind,
                       const AccountNumbers& accounts = {}) {
    Sha256 digest;
    digest.update_field(packages);
    digest.update_field(kind);
    for (const Numbers* numbers : {&accounts.users, &accounts.groups}) {
        digest.update_field(std::to_string(numbers->size()));
        for (const auto& [name, number] : *numbers) {
            digest.update_field(name);
            digest.update_field(std::to_string(number));
        }
    }
    return digest.hex();
}

constexpr const char* words_name = "words";

/// The words of a record; nothing if it does not exist or is damaged.
std::optional<std::vector<std::vector<std::string>>> read_record(const Context& ctx,
                                                                 const std::string& name) {
    const std::optional<StoredEntry> kept = find_stored(ctx, kept_compositions, name);
    const std::string* text = kept ? kept->find(words_name) : nullptr;
    if (text == nullptr) {
        return std::nullopt;
    }
    try {
        return parse_calls(*text);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void write_record(const Context& ctx, const std::string& name,
                  const std::vector<std::vector<std::string>>& words) {
    NewEntry record(ctx, kept_compositions, name);
    record.add(words_name, format_calls(words));
    record.keep({});
}

std::vector<std::string> names_of(const Numbers& numbers) {
    return keys_of(numbers);
}

/// The numbers of `names`; nothing if one is missing.
std::optional<Numbers> pick(const Numbers& numbers, const std::vector<std::string>& names) {
    Numbers picked;
    for (const std::string& name : names) {
        const auto found = numbers.find(name);
        if (found == numbers.end()) {
            return std::nullopt;
        }
        picked.insert(*found);
    }
    return picked;
}

/// Whether all accounts that useradd and groupadd were called for still exist.
bool all_remain(const std::vector<std::vector<std::string>>& made, const AccountNumbers& accounts) {
    return std::ranges::all_of(made, [&](const std::vector<std::string>& call) {
        return call.size() == 2 &&
               (call[0] == "useradd" ? accounts.users : accounts.groups).contains(call[1]);
    });
}

}  // namespace

std::string find_composition(const Context& ctx, const std::string& packages,
                             const ParentAccounts& seeds) {
    const AccountNumbers wanted = numbers_of(seeds);
    if (const auto record = read_record(ctx, entry_name(packages, "made with", wanted));
        record && record->size() == 1 && record->front().size() == 1) {
        return record->front().front();
    }
    const auto names = read_record(ctx, entry_name(packages, "accounts"));
    if (!names || names->size() != 2) {
        return {};
    }
    const std::optional<Numbers> users = pick(wanted.users, names->front());
    const std::optional<Numbers> groups = pick(wanted.groups, names->back());
    return users && groups ? entry_name(packages, "result", {*users, *groups}) : std::string();
}

std::string name_composition(const Context& ctx, const std::string& packages,
                             const ParentAccounts& seeds, const Tree& tree,
                             const std::vector<std::vector<std::string>>& made) {
    const AccountNumbers given = numbers_of(seeds);
    const AccountNumbers accounts = numbers_of(tree);
    if (!all_remain(made, accounts)) {
        std::string name = entry_name(packages, "result of seeds", given);
        write_record(ctx, entry_name(packages, "made with", given), {{name}});
        return name;
    }
    std::string name = entry_name(packages, "result", accounts);
    write_record(ctx, entry_name(packages, "accounts"),
                 {names_of(accounts.users), names_of(accounts.groups)});
    write_record(ctx, entry_name(packages, "made with", given), {{name}});
    return name;
}

}  // namespace edgegpu
