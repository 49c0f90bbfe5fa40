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
