#include <algorithm>
#include <utility>

#include "blueprint/toml/toml_state.hpp"
#include "blueprint/toml/validate.hpp"

namespace edgegpu {

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

std::string TableReader::string_or_integer(std::string_view key, std::string_view fallback,
                                           std::int64_t maximum) const {
    const toml::node* node = state_->find(key);
    if (node != nullptr && node->is_integer()) {
        const auto number = integer(key, 0, maximum);
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

std::vector<StringOrTable> TableReader::strings_or_tables(std::string_view key) const {
    constexpr const char* expected = "an array of strings and tables";
    const toml::node* node = state_->find(key);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    std::vector<StringOrTable> found;
    if (array == nullptr) {
        if (node != nullptr) {
            note(state_->wrong_type(key, expected, *node));
        }
        return found;
    }
    if (array->size() > most_tables) {
        note(error_at(location(key), "\"{}\" has {} elements, more than {}", full_name(key),
                      array->size(), most_tables));
        return found;
    }
    for (const toml::node& item : *array) {
        if (const toml::table* sub = item.as_table()) {
            found.push_back({{}, TableReader(state_->child(key, *sub))});
        } else {
            attempt([&] {
                std::string text = state_->plain_string(key, item, expected);
                found.push_back({{std::move(text), state_->at(item.source())}, std::nullopt});
            });
        }
    }
    return found;
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

std::vector<std::string> values_of(const std::vector<LocatedString>& strings) {
    std::vector<std::string> values;
    values.reserve(strings.size());
    for (const LocatedString& item : strings) {
        values.push_back(item.value);
    }
    return values;
}

}  // namespace edgegpu
