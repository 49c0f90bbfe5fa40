#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/toml_value.hpp"

namespace edgegpu {

/// What the readers of one table share; for the sources of TableReader alone.
struct TableReader::State {
    /// lives as long as any reader of one of its tables
    std::shared_ptr<const TomlValue> document;
    const TomlTable* table = nullptr;
    /// Where the table begins.
    TomlPlace place;
    std::string prefix;
    std::set<std::string, std::less<>> known;
    Mistakes* mistakes = nullptr;

    [[nodiscard]] const TomlValue* find(std::string_view key) {
        known.emplace(key);
        return find_value(*table, key);
    }
    /// The value of a key, if it has that type; notes any other type.
    template <typename Value>
    [[nodiscard]] const Value* typed(std::string_view key, std::string_view expected) {
        const TomlValue* node = find(key);
        const auto* value = node == nullptr ? nullptr : node->get<Value>();
        if (node != nullptr && value == nullptr) {
            mistakes->add(wrong_type(key, expected, *node));
        }
        return value;
    }
    [[nodiscard]] SourceLocation key_location(std::string_view key) const {
        const auto found = table->find(key);
        return (found == table->end() ? place : found->second.place).location();
    }
    [[nodiscard]] std::string name(std::string_view key) const {
        return prefix.empty() ? std::string(key) : prefix + '.' + std::string(key);
    }
    [[nodiscard]] Error wrong_type(std::string_view key, std::string_view expected,
                                   const TomlValue& found) const;
    [[nodiscard]] std::string plain_string(std::string_view key, const TomlValue& value,
                                           std::string_view expected) const;
    /// The elements of an array that is to have tables; none, with a note, if it is no array or has
    /// too many.
    [[nodiscard]] const TomlArray& some_tables(std::string_view key, std::string_view expected);
    /// `value`: a table
    [[nodiscard]] std::shared_ptr<State> child(std::string_view key, const TomlValue& value) const {
        return std::make_shared<State>(
            State{document, value.get<TomlTable>(), value.place, name(key), {}, mistakes});
    }
    /// The result of `read`; if it throws, the error is noted and `fallback` returned.
    template <typename Value, typename Read>
    Value or_else(Value fallback, Read read) const {
        mistakes->attempt([&] { fallback = read(); });
        return fallback;
    }
};

}  // namespace edgegpu
