#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "blueprint/toml/toml_reader.hpp"

namespace edgegpu {

/// What the readers of one table share. Only the sources of TableReader include it: the rest of the
/// program is compiled without the parser's header.
struct TableReader::State {
    /// lives as long as any reader of one of its tables
    std::shared_ptr<const toml::table> document;
    const toml::table* table = nullptr;
    std::string file;
    std::string prefix;
    std::set<std::string, std::less<>> known;
    Mistakes* mistakes = nullptr;
    /// Where the table begins.
    SourceLocation place;

    [[nodiscard]] SourceLocation at(const toml::source_region& region) const {
        return {file, region.begin.line, region.begin.column};
    }
    [[nodiscard]] const toml::node* find(std::string_view key) {
        known.emplace(key);
        return table->get(key);
    }
    [[nodiscard]] const toml::key* find_key(std::string_view key) const {
        const auto entry = table->find(key);
        return entry == table->end() ? nullptr : &entry->first;
    }
    [[nodiscard]] SourceLocation key_location(std::string_view key) const {
        const toml::key* found = find_key(key);
        return found != nullptr ? at(found->source()) : place;
    }
    [[nodiscard]] std::string name(std::string_view key) const {
        return prefix.empty() ? std::string(key) : prefix + '.' + std::string(key);
    }
    [[nodiscard]] Error wrong_type(std::string_view key, std::string_view expected,
                                   const toml::node& found) const;
    [[nodiscard]] std::string plain_string(std::string_view key, const toml::node& node,
                                           std::string_view expected) const;
    [[nodiscard]] std::shared_ptr<State> child(std::string_view key, const toml::table& sub) const {
        // Tables that only exist as the middle of a dotted name have no place of their own.
        return std::make_shared<State>(
            State{document,
                  &sub,
                  file,
                  name(key),
                  {},
                  mistakes,
                  sub.source().begin.line == 0 ? key_location(key) : at(sub.source())});
    }
    /// The result of `read`; if it throws, the error is noted and `fallback` returned.
    template <typename Value, typename Read>
    Value or_else(Value fallback, Read read) const {
        mistakes->attempt([&] { fallback = read(); });
        return fallback;
    }
};

}  // namespace edgegpu
