#include "blueprint/toml/toml_value.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "blueprint/toml/toml_depth.hpp"
#include "blueprint/toml/toml_syntax.hpp"

namespace edgegpu {

namespace {

/// Takes the values of a parsed document. The depth is limited (toml_depth.hpp).
class Taking {
public:
    Taking(const std::string& file, unsigned rank)
        : file_(std::make_shared<const std::string>(file)), rank_(rank) {}

    // NOLINTNEXTLINE(misc-no-recursion): see above
    [[nodiscard]] TomlValue value_of(const toml::node& node, const TomlPlace& fallback) const {
        TomlValue taken;
        taken.place = node.source().begin.line == 0 ? fallback : place_of(node.source());
        if (const toml::table* table = node.as_table()) {
            taken.value = table_of(*table);
        } else if (const toml::array* array = node.as_array()) {
            TomlArray list;
            list.reserve(array->size());
            for (const toml::node& item : *array) {
                list.push_back(value_of(item, taken.place));
            }
            taken.value = std::move(list);
        } else if (const auto* text = node.as_string()) {
            taken.value = text->get();
        } else if (const auto* integer = node.as_integer()) {
            taken.value = integer->get();
        } else if (const auto* number = node.as_floating_point()) {
            taken.value = number->get();
        } else if (const auto* boolean = node.as_boolean()) {
            taken.value = boolean->get();
        } else {
            taken.value = TomlDate{node.is_date()   ? "a date"
                                   : node.is_time() ? "a time"
                                                    : "a date and time"};
        }
        return taken;
    }

private:
    [[nodiscard]] TomlPlace place_of(const toml::source_region& source) const {
        return {file_, source.begin.line, source.begin.column};
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    [[nodiscard]] TomlTable table_of(const toml::table& table) const {
        TomlTable taken;
        for (const auto& [key, node] : table) {
            const TomlPlace place = place_of(key.source());
            taken.emplace(key.str(), TomlMember{place, value_of(node, place), rank_});
        }
        return taken;
    }

    std::shared_ptr<const std::string> file_;
    unsigned rank_;
};

/// Whether `a` has the lower rank, or is in an earlier line of the same file.
bool precedes(const TomlTable::value_type* a, const TomlTable::value_type* b) {
    const TomlMember& one = a->second;
    const TomlMember& other = b->second;
    return std::tie(one.rank, one.place.line, one.place.column, a->first) <
           std::tie(other.rank, other.place.line, other.place.column, b->first);
}

}  // namespace

SourceLocation TomlPlace::location() const {
    return {file ? *file : std::string(), line, column};
}

std::string_view TomlValue::type_name() const {
    static constexpr std::array<std::string_view, 7> names{
        "a string", "an integer", "a floating-point number", "a boolean", "",
        "an array", "a table"};
    const TomlDate* date = get<TomlDate>();
    return date != nullptr ? date->what : names.at(value.index());
}

TomlValue parse_toml(const std::string& file, std::string_view text, unsigned rank) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        throw error_at({file, 1, 1}, "this is JSON; a blueprint must be TOML")
            .hinted("image builder exports blueprints as TOML: composer-cli blueprints save NAME");
    }
    require_shallow_toml(file, text);
    try {
        return Taking(file, rank).value_of(toml::parse(text, file), {});
    } catch (const toml::parse_error& failure) {
        const toml::source_position begin = failure.source().begin;
        throw toml_syntax_error(file, text, begin.line, begin.column, failure.description());
    }
}

std::vector<std::string> ordered_keys(const TomlTable& table) {
    std::vector<const TomlTable::value_type*> members;
    members.reserve(table.size());
    for (const auto& member : table) {
        members.push_back(&member);
    }
    std::ranges::sort(members, precedes);
    std::vector<std::string> keys;
    keys.reserve(members.size());
    for (const auto* member : members) {
        keys.push_back(member->first);
    }
    return keys;
}

const TomlValue* find_value(const TomlTable& table, std::string_view key) {
    const auto member = table.find(key);
    return member == table.end() ? nullptr : &member->second.value;
}

}  // namespace edgegpu
