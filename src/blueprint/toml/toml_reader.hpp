#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "blueprint/toml/mistakes.hpp"
#include "support/enum_names.hpp"
#include "support/error.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// A string of an array, with its own place.
struct LocatedString {
    std::string value;
    SourceLocation location;
};

/// Typed access to one table of a TOML document, with the place of everything.
///
/// Every accessor remembers the key it was asked for; `finish` then reports the keys of the table
/// that nobody asked for. A mistake does not end the reading: it goes to the document's Mistakes,
/// and the accessor answers as if the key were absent. Only `required_string` throws, since
/// nothing sensible can follow. All errors are ErrorKind::usage and begin "FILE:LINE:COLUMN: ".
/// Copies share the document and what was asked for.
class TableReader {
public:
    /// The most elements of an array of tables.
    static constexpr std::size_t most_tables = 20000;

    /// Parses a whole document (TOML 1.0). `file` is how messages name it; `mistakes` outlives all
    /// readers. Throws for malformed TOML with the parser's own words.
    [[nodiscard]] static TableReader parse(const std::string& file, std::string_view text,
                                           Mistakes& mistakes);

    /// Adds to the document's mistakes.
    void note(const Error& failure) const;
    /// Runs `read`, whose usage Errors become mistakes of the document; true if there was none.
    template <typename Read>
    bool attempt(Read&& read) const {
        return mistakes().attempt(std::forward<Read>(read));
    }
    [[nodiscard]] Mistakes& mistakes() const;

    /// Where the table begins.
    [[nodiscard]] SourceLocation location() const;
    /// Where the value of `key` begins, or the table where there is no such key.
    [[nodiscard]] SourceLocation location(std::string_view key) const;
    /// The dotted name of a key as the user would write it: "customizations.hostname".
    [[nodiscard]] std::string full_name(std::string_view key) const;
    [[nodiscard]] bool has(std::string_view key) const;
    /// All keys of the table, in the document's order.
    [[nodiscard]] std::vector<std::string> keys() const;

    /// A string without control characters; `fallback` where the key is absent.
    [[nodiscard]] std::string string(std::string_view key, std::string_view fallback = {}) const;
    /// The same, but throws where the key is not there, empty or of another type.
    [[nodiscard]] std::string required_string(std::string_view key) const;
    /// A string that may have several lines and any character.
    [[nodiscard]] std::string text(std::string_view key) const;
    /// A string out of `choices`.
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
    [[nodiscard]] bool boolean(std::string_view key, bool fallback) const;
    /// An integer in [minimum, maximum].
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t minimum,
                                                      std::int64_t maximum) const;
    /// An array of strings without control characters; empty where the key is absent.
    [[nodiscard]] std::vector<LocatedString> strings(std::string_view key) const;
    /// The same of strings that may have several lines and any character.
    [[nodiscard]] std::vector<LocatedString> texts(std::string_view key) const;
    /// The same as `strings`, or a single string.
    [[nodiscard]] std::vector<LocatedString> string_or_strings(std::string_view key) const;
    /// A string, or an integer as decimal text (image builder takes both for owners).
    [[nodiscard]] std::string string_or_integer(std::string_view key,
                                                std::string_view fallback) const;
    [[nodiscard]] std::optional<TableReader> table(std::string_view key) const;
    /// An array of tables; empty where the key is absent.
    [[nodiscard]] std::vector<TableReader> tables(std::string_view key) const;

    /// Notes "not supported yet: KEY" if the key is there (and is not the boolean false).
    void refuse_unsupported(std::initializer_list<std::string_view> keys) const;
    /// Notes "not for an edge commit: KEY" if the key is there, with what to use instead as hint.
    void refuse_foreign(std::string_view key, std::string_view instead) const;
    /// Notes every key that no accessor was asked for, with a "did you mean".
    void finish() const;

private:
    struct State;
    /// Notes that the value of `key` is none of `expected`, a list of names.
    void note_choice(std::string_view key, std::string_view expected, std::string_view value) const;
    explicit TableReader(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

/// The values alone.
[[nodiscard]] std::vector<std::string> values_of(const std::vector<LocatedString>& strings);

}  // namespace edgegpu
