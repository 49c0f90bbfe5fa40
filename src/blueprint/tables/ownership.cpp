#include "blueprint/tables/ownership.hpp"

#include "blueprint/toml/validate.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

std::optional<unsigned> read_mode(const TableReader& table) {
    if (!table.has("mode")) {
        return std::nullopt;
    }
    const std::string text = table.string("mode", "0644");
    const bool octal = !text.empty() && text.size() <= 5 &&
                       text.find_first_not_of("01234567") == std::string::npos;
    const unsigned long mode = octal ? std::stoul(text, nullptr, 8) : 010000UL;
    if (mode > 07777UL) {
        throw error_at(table, "mode", "\"{}\" must be an octal number as a string, not \"{}\"",
                       table.full_name("mode"), text)
            .hinted("as in mode = \"0644\"");
    }
    return static_cast<unsigned>(mode);
}

std::string read_owner(const TableReader& table, std::string_view key, std::string_view fallback) {
    std::string owner = table.string_or_integer(key, fallback);
    const bool number = owner.find_first_not_of("0123456789") == std::string::npos;
    if (owner.empty() || !number) {
        require_account_name(table.location(key), key, owner);
    }
    return owner;
}

}  // namespace edgegpu
