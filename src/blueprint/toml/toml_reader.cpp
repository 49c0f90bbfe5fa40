#include "blueprint/toml/toml_reader.hpp"

#include <algorithm>
#include <set>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include "blueprint/toml/toml_depth.hpp"
#include "blueprint/toml/validate.hpp"

namespace edgegpu {

/// The document lives as long as any reader of one of its tables.
struct TableReader::State {
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
    /// Runs `read`; what it throws is noted, and `fallback` is the answer.
    template <typename Value, typename Read>
    Value or_else(Value fallback, Read read) const {
        mistakes->attempt([&] { fallback = read(); });
        return fallback;
    }
};

namespace {

std::string_view type_name(toml::node_type type) {
    switch (type) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "an array";
        case toml::node_type::string:
            return "a string";
        case toml::node_type::integer:
            return "an integer";
        case toml::node_type::floating_point:
            return "a floating-point number";
        case toml::node_type::boolean:
            return "a boolean";
        case toml::node_type::date:
            return "a date";
        case toml::node_type::time:
            return "a time";
        case toml::node_type::date_time:
            return "a date and time";
        case toml::node_type::none:
            break;
    }
    return "nothing";
}

}  // namespace

Error TableReader::State::wrong_type(std::string_view key, std::string_view expected,
                                     const toml::node& found) const {
    return error_at(at(found.source()), "\"{}\" must be {}, not {}", name(key), expected,
                    type_name(found.type()));
}

std::string TableReader::State::plain_string(std::string_view key, const toml::node& node,
                                             std::string_view expected) const {
    const toml::value<std::string>* value = node.as_string();
    if (value == nullptr) {
        throw wrong_type(key, expected, node);
    }
    if (has_control_characters(value->get())) {
        throw error_at(at(node.source()), "\"{}\" contains a control character", name(key));
    }
    return value->get();
}

TableReader TableReader::parse(const std::string& file, std::string_view text, Mistakes& mistakes) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && text[first] == '{') {
        throw error_at({file, 1, 1}, "this is JSON; a blueprint must be TOML")
            .hinted("image builder exports blueprints as TOML: composer-cli blueprints save NAME");
    }
    require_shallow_toml(file, text);
    try {
        auto document = std::make_shared<const toml::table>(toml::parse(text, file));
        const toml::table* root = document.get();
        const toml::source_position begin = root->source().begin;
        return TableReader(std::make_shared<State>(State{
            std::move(document), root, file, {}, {}, &mistakes, {file, begin.line, begin.column}}));
    } catch (const toml::parse_error& failure) {
        const toml::source_position begin = failure.source().begin;
        throw error_at({file, begin.line, begin.column}, "malformed TOML: {}",
                       failure.description());
    }
}

void TableReader::note(const Error& failure) const {
    state_->mistakes->add(failure);
}

Mistakes& TableReader::mistakes() const {
    return *state_->mistakes;
}

SourceLocation TableReader::location() const {
    return state_->place;
}

SourceLocation TableReader::location(std::string_view key) const {
    const toml::node* node = state_->table->get(key);
    if (node == nullptr) {
        return location();
    }
    // Tables that only exist as the middle of a dotted name have no place of their own.
    return node->source().begin.line == 0 ? state_->key_location(key) : state_->at(node->source());
}

std::string TableReader::full_name(std::string_view key) const {
    return state_->name(key);
}

bool TableReader::has(std::string_view key) const {
    return state_->find(key) != nullptr;
}

std::vector<std::string> TableReader::keys() const {
    std::vector<std::pair<toml::source_position, std::string>> found;
    for (const auto& [key, node] : *state_->table) {
        found.emplace_back(key.source().begin, key.str());
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.first == b.first ? a.second < b.second : a.first < b.first;
    });
    std::vector<std::string> names;
    for (auto& [position, name] : found) {
        names.push_back(std::move(name));
    }
    return names;
}

std::string TableReader::string(std::string_view key, std::string_view fallback) const {
    const toml::node* node = state_->find(key);
    return node == nullptr ? std::string(fallback) : state_->or_else(std::string(fallback), [&] {
        return state_->plain_string(key, *node, "a string");
    });
}

std::string TableReader::required_string(std::string_view key) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr) {
        throw error_at(location(), "\"{}\" is missing", full_name(key));
    }
    std::string value = state_->plain_string(key, *node, "a string");
    if (value.empty()) {
        throw error_at(location(key), "\"{}\" is empty", full_name(key));
    }
    return value;
}

std::string TableReader::text(std::string_view key) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr) {
        return {};
    }
    const toml::value<std::string>* value = node->as_string();
    if (value == nullptr) {
        note(state_->wrong_type(key, "a string", *node));
        return {};
    }
    return value->get();
}

std::string TableReader::choice(std::string_view key, std::string_view fallback,
                                std::initializer_list<std::string_view> choices) const {
    std::string value = string(key, fallback);
    if (value == fallback || std::find(choices.begin(), choices.end(), value) != choices.end()) {
        return value;
    }
    std::string list;
    for (const std::string_view item : choices) {
        list += (list.empty() ? "\"" : ", \"") + std::string(item) + '"';
    }
    note_choice(key, list, value);
    return std::string(fallback);
}

void TableReader::note_choice(std::string_view key, std::string_view expected,
                              std::string_view value) const {
    note(error_at(location(key), "\"{}\" must be one of {}, not \"{}\"", full_name(key), expected,
                  value));
}

bool TableReader::boolean(std::string_view key, bool fallback) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr) {
        return fallback;
    }
    const toml::value<bool>* value = node->as_boolean();
    if (value == nullptr) {
        note(state_->wrong_type(key, "a boolean", *node));
        return fallback;
    }
    return value->get();
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t minimum,
                                                 std::int64_t maximum) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    const toml::value<std::int64_t>* value = node->as_integer();
    if (value == nullptr) {
        note(state_->wrong_type(key, "an integer", *node));
        return std::nullopt;
    }
    if (value->get() < minimum || value->get() > maximum) {
        note(error_at(location(key), "\"{}\" must be between {} and {}, not {}", full_name(key),
                      minimum, maximum, value->get()));
        return std::nullopt;
    }
    return value->get();
}

std::vector<LocatedString> TableReader::strings(std::string_view key) const {
    std::vector<LocatedString> found;
    for (LocatedString& item : texts(key)) {
        if (has_control_characters(item.value)) {
            note(error_at(item.location, "\"{}\" contains a control character", full_name(key)));
        } else {
            found.push_back(std::move(item));
        }
    }
    return found;
}

std::vector<LocatedString> TableReader::texts(std::string_view key) const {
    const toml::node* node = state_->find(key);
    std::vector<LocatedString> found;
    if (node == nullptr) {
        return found;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
        note(state_->wrong_type(key, "an array of strings", *node));
        return found;
    }
    for (const toml::node& item : *array) {
        if (const toml::value<std::string>* value = item.as_string()) {
            found.push_back({value->get(), state_->at(item.source())});
        } else {
            note(state_->wrong_type(key, "an array of strings", item));
        }
    }
    return found;
}

std::vector<LocatedString> TableReader::string_or_strings(std::string_view key) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr || node->is_array()) {
        return strings(key);
    }
    std::vector<LocatedString> found;
    attempt([&] {
        found.push_back(
            {state_->plain_string(key, *node, "a string or an array of strings"), location(key)});
    });
    return found;
}

std::string TableReader::string_or_integer(std::string_view key, std::string_view fallback) const {
    const toml::node* node = state_->find(key);
    if (node != nullptr && node->is_integer()) {
        const auto number = integer(key, 0, 0xFFFFFFFELL);
        return number ? std::to_string(*number) : std::string(fallback);
    }
    return string(key, fallback);
}

std::optional<TableReader> TableReader::table(std::string_view key) const {
    const toml::node* node = state_->find(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    const toml::table* sub = node->as_table();
    if (sub == nullptr) {
        note(state_->wrong_type(key, "a table", *node));
        return std::nullopt;
    }
    return TableReader(state_->child(key, *sub));
}

std::vector<TableReader> TableReader::tables(std::string_view key) const {
    const toml::node* node = state_->find(key);
    std::vector<TableReader> found;
    if (node == nullptr) {
        return found;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
        note(state_->wrong_type(key, "an array of tables", *node));
        return found;
    }
    if (array->size() > most_tables) {
        note(error_at(location(key), "\"{}\" has {} elements, more than {}", full_name(key),
                      array->size(), most_tables));
        return found;
    }
    for (const toml::node& item : *array) {
        if (const toml::table* sub = item.as_table()) {
            found.push_back(TableReader(state_->child(key, *sub)));
        } else {
            note(state_->wrong_type(key, "an array of tables", item));
        }
    }
    return found;
}

void TableReader::refuse_unsupported(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
        const toml::node* node = state_->find(key);
        const bool off = node != nullptr && node->is_boolean() && !node->as_boolean()->get();
        if (node != nullptr && !off) {
            note(error_at(state_->key_location(key), "not supported yet: {}", full_name(key)));
        }
    }
}

void TableReader::refuse_foreign(std::string_view key, std::string_view instead) const {
    if (has(key)) {
        note(error_at(state_->key_location(key), "not for an edge commit: {}", full_name(key))
                 .hinted(std::string(instead)));
    }
}

void TableReader::finish() const {
    const std::vector<std::string> known(state_->known.begin(), state_->known.end());
    std::size_t unknown_keys = 0;
    for (const std::string& key : keys()) {
        if (state_->known.count(key) != 0) {
            continue;
        }
        Error unknown = error_at(state_->key_location(key), "unknown key \"{}\"", full_name(key));
        // A hostile file has hundreds of thousands: those that nobody sees get no hint.
        if (++unknown_keys <= Mistakes::most) {
            const std::vector<std::string> near = nearest_names(key, known);
            unknown.hinted(near.empty()
                               ? fmt::format("known keys: {}", fmt::join(known, ", "))
                               : fmt::format("did you mean \"{}\"?", full_name(near.front())));
        }
        note(unknown);
    }
}

std::vector<std::string> values_of(const std::vector<LocatedString>& strings) {
    std::vector<std::string> values;
    values.reserve(strings.size());
    for (const LocatedString& item : strings) {
        values.push_back(item.value);
    }
    return values;
}

}  // namespace edgegpu
