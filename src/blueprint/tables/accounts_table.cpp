#include <map>
#include <string>

#include "blueprint/tables/tables.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

std::map<std::string, std::uint32_t> read_numbers(const TableReader& table, const char* key,
                                                  const char* what) {
    constexpr std::int64_t largest_id = 0xFFFFFFFELL;  // (uid_t)-1 means "no id"
    std::map<std::string, std::uint32_t> numbers;
    std::map<std::uint32_t, std::string> owners;
    if (const auto names = table.table(key)) {
        for (const std::string& name : names->keys()) {
            table.attempt([&] { require_account_name(names->location(name), what, name); });
            const auto given = names->integer(name, 1, largest_id);
            if (!given) {
                continue;
            }
            const auto number = static_cast<std::uint32_t>(*given);
            const auto [owner, fresh] = owners.emplace(number, name);
            if (!fresh) {
                table.note(error_at(*names, name, "{}s \"{}\" and \"{}\" have one number: {}", what,
                                    owner->second, name, number));
            }
            numbers[name] = number;
        }
    }
    return numbers;
}

}  // namespace

void read_accounts_table(const TableReader& table, AccountsRequest& accounts) {
    accounts.location = table.location();
    if (table.has("login")) {
        // What is no value has been said: not that nobody can log in as well.
        accounts.login = table.choice("login", LoginSource::none);
    }
    accounts.uids = read_numbers(table, "uids", "user");
    accounts.gids = read_numbers(table, "gids", "group");
    table.finish();
}

}  // namespace edgegpu
