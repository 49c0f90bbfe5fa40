#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blueprint/toml/mistakes.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"
#include "support/text/enum_names.hpp"

namespace edgegpu {

/// A string of an array, with its location.
struct LocatedString {
    std::string value;
    SourceLocation location;
};

struct JsonTable;
struct StringOrTable;
struct TomlValue;

/// Typed access to one table of a TOML document, with source locations.
///
/// Accessors record the requested keys; `finish` then reports all other keys of the table. An
/// accessor adds a mistake to the document's Mistakes and returns what it would for an absent key;
/// only `required_string` throws. All errors are ErrorKind::usage and begin "FILE:LINE:COLUMN: ".
/// Copies share the document and the requested keys.
class TableReader {
public:
    /// Maximum number of elements in an array of tables.
    static constexpr std::size_t most_tables = 20000;

    /// Parses a whole document (TOML 1.0). Messages call it `file`; `mistakes` must outlive all
    /// readers. Throws toml_syntax_error for malformed TOML.
    [[nodiscard]] static TableReader parse(const std::string& file, std::string_view text,
                                           Mistakes& mistakes);
    /// The same for a document that was parsed (toml_value.hpp), a table.
    [[nodiscard]] static TableReader of(std::shared_ptr<const TomlValue> document,
                                        Mistakes& mistakes);

    /// Adds to the document's mistakes.
    void note(const Error& failure) const;
    /// Mistakes::attempt for the document's mistakes.
    template <typename Read>
    bool attempt(Read&& read) const {
        return mistakes().attempt(std::forward<Read>(read));
    }
    [[nodiscard]] Mistakes& mistakes() const;

    /// Beginning of the table.
    [[nodiscard]] SourceLocation location() const;
    /// Beginning of the value of `key`, or of the table if the key is absent.
    [[nodiscard]] SourceLocation location(std::string_view key) const;
    /// Dotted name of a key: "customizations.hostname".
    [[nodiscard]] std::string full_name(std::string_view key) const;
    /// Whether the key is present; it then counts as requested.
    [[nodiscard]] bool has(std::string_view key) const;
    /// Whether the value of `key` is true or false; the key then counts as requested.
    [[nodiscard]] bool is_boolean(std::string_view key) const;
    /// All keys of the table, in the order in which the files have them.
    [[nodiscard]] std::vector<std::string> keys() const;

    /// A string without control characters; `fallback` if the key is absent.
    [[nodiscard]] std::string string(std::string_view key, std::string_view fallback = {}) const;
    /// The same, but throws if the key is absent, empty or of another type.
    [[nodiscard]] std::string required_string(std::string_view key) const;
    /// A string that may have several lines and any character.
    [[nodiscard]] std::string text(std::string_view key) const;
    /// One of `choices`.
    [[nodiscard]] std::string choice(std::string_view key, std::string_view fallback,
                                     std::initializer_list<std::string_view> choices) const;
    /// One of an enum's values, by its name.
    template <NamedEnum Enum>
    [[nodiscard]] Enum choice(std::string_view key, Enum fallback) const {
        const std::string name = string(key, enum_name(fallback));
        const std::optional<Enum> value = value_named<Enum>(name);
        if (!value) {
            note_choice(key, expected_names<Enum>(), name);
        }
        return value.value_or(fallback);
    }
    /// `fallback` if the key is absent.
    [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
    /// An integer in [minimum, maximum].
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t minimum,
                                                      std::int64_t maximum) const;
    /// An array of strings without control characters; empty if the key is absent.
    [[nodiscard]] std::vector<LocatedString> strings(std::string_view key) const;
    /// The same, but strings may have several lines and any character.
    [[nodiscard]] std::vector<LocatedString> texts(std::string_view key) const;
    /// Like `strings`, but accepts a single string as well.
    [[nodiscard]] std::vector<LocatedString> string_or_strings(std::string_view key) const;
    /// Of `strings` those that `require`, called with the place and the value, does not refuse.
    template <typename Require>
    [[nodiscard]] std::vector<std::string> checked_strings(std::string_view key,
                                                           const Require& require) const {
        std::vector<std::string> good;
        for (const LocatedString& one : strings(key)) {
            if (attempt([&] { require(one.location, one.value); })) {
                good.push_back(one.value);
            }
        }
        return good;
    }
    /// A string, or an integer of at most `maximum` as decimal text (image builder accepts both for
    /// owners).
    [[nodiscard]] std::string string_or_integer(std::string_view key, std::string_view fallback,
                                                std::int64_t maximum = 0xFFFFFFFELL) const;
    /// Nothing if the key is absent.
    [[nodiscard]] std::optional<TableReader> table(std::string_view key) const;
    /// An array of tables; empty if the key is absent.
    [[nodiscard]] std::vector<TableReader> tables(std::string_view key) const;
    /// Calls `use` with the table and `args`, if the key is present.
    template <typename Use, typename... Args>
    void with_table(std::string_view key, const Use& use, Args&&... args) const {
        if (const std::optional<TableReader> inner = table(key)) {
            use(*inner, args...);
        }
    }
    /// Attempts `use` with each of an array of tables, and `args`.
    template <typename Use, typename... Args>
    void each_table(std::string_view key, const Use& use, Args&&... args) const {
        for (const TableReader& element : tables(key)) {
            attempt([&] { use(element, args...); });
        }
    }
    /// An array of strings without control characters and of tables, also mixed; empty if the key
    /// is absent.
    [[nodiscard]] std::vector<StringOrTable> strings_or_tables(std::string_view key) const;

    /// The whole table as JSON (toml_json.hpp): for tables whose keys are another program's.
    [[nodiscard]] JsonTable json() const;

    /// Notes "not supported yet: KEY" if a key is present (and not the boolean false).
    void refuse_unsupported(std::initializer_list<std::string_view> keys) const;
    /// Notes "not for an edge commit: KEY" if the key is present, with the hint `instead`.
    void refuse_foreign(std::string_view key, std::string_view instead) const;
    /// Notes every key that was neither requested nor is one of `read_later`, with a "did you
    /// mean".
    void finish(std::initializer_list<std::string_view> read_later = {}) const;

private:
    struct State;
    /// Notes that `value` of `key` is not one of `expected`, a list of names.
    void note_choice(std::string_view key, std::string_view expected, std::string_view value) const;
    explicit TableReader(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// An error at the value of `key`, or at the table if the key is absent.
template <typename... Args>
[[nodiscard]] Error error_at(const TableReader& table, std::string_view key,
                             fmt::format_string<Args...> format, Args&&... args) {
    return error_at(table.location(key), format, std::forward<Args>(args)...);
}

/// An element of an array that has strings and tables.
struct StringOrTable {
    /// The string, if there is no table.
    LocatedString string;
    std::optional<TableReader> table;
};

/// The strings without locations.
[[nodiscard]] std::vector<std::string> values_of(const std::vector<LocatedString>& strings);

}  // namespace edgegpu
