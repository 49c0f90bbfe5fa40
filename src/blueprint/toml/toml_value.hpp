#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/source_location.hpp"

namespace edgegpu {

/// A place in a file whose name all values of the file share.
struct TomlPlace {
    std::shared_ptr<const std::string> file;
    /// 1-based; 0: none
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    [[nodiscard]] SourceLocation location() const;
};

struct TomlValue;
struct TomlMember;
using TomlArray = std::vector<TomlValue>;
using TomlTable = std::map<std::string, TomlMember, std::less<>>;

/// A date, a time or both, which no key of a blueprint takes.
struct TomlDate {
    /// "a date", "a time", "a date and time"
    std::string_view what;
};

/// A value of a TOML document, and where it is. Unlike the parser's own values, those of several
/// files can be put together.
struct TomlValue {
    std::variant<std::string, std::int64_t, double, bool, TomlDate, TomlArray, TomlTable> value;
    /// Where the value begins; of a table that only exists as the middle of a dotted name, where
    /// that name is.
    TomlPlace place;
    /// How a value was made of parameters ("site from --set"); empty: it is as the file has it.
    std::string origin = {};

    /// The value if it is of this type, else nullptr.
    template <typename Type>
    [[nodiscard]] const Type* get() const;
    template <typename Type>
    [[nodiscard]] Type* get();
    /// "a string", "an integer", "a table"
    [[nodiscard]] std::string_view type_name() const;
};

/// What a table has under a key.
struct TomlMember {
    /// Where the key is.
    TomlPlace place;
    TomlValue value;
    /// The file's place among those that were put together.
    unsigned rank = 0;
};

// Not before TomlMember is complete, which a table has.
template <typename Type>
const Type* TomlValue::get() const {
    return std::get_if<Type>(&value);
}
template <typename Type>
Type* TomlValue::get() {
    return std::get_if<Type>(&value);
}

/// Parses a whole document (TOML 1.0), whose value is a table; its members have this `rank`.
/// Messages call it `file`. Throws ErrorKind::usage with the parser's message, at its line, for
/// malformed TOML.
[[nodiscard]] TomlValue parse_toml(const std::string& file, std::string_view text,
                                   unsigned rank = 0);

/// The keys of a table, by rank, then in the order of their lines.
[[nodiscard]] std::vector<std::string> ordered_keys(const TomlTable& table);

/// The value of a key; nullptr if the table does not have it.
[[nodiscard]] const TomlValue* find_value(const TomlTable& table, std::string_view key);

}  // namespace edgegpu
