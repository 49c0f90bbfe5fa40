#include <algorithm>
#include <utility>

#include "blueprint/toml/toml_state.hpp"
#include "blueprint/toml/validate.hpp"

namespace edgegpu {

Error TableReader::State::wrong_type(std::string_view key, std::string_view expected,
                                     const TomlValue& found) const {
    return error_at(found.place.location(), "\"{}\" must be {}, not {}", name(key), expected,
                    found.type_name());
}

std::string TableReader::State::plain_string(std::string_view key, const TomlValue& value,
                                             std::string_view expected) const {
    const auto* text = value.get<std::string>();
    if (text == nullptr) {
        throw wrong_type(key, expected, value);
    }
    if (has_control_characters(*text)) {
        throw error_at(value.place.location(), "\"{}\" contains a control character", name(key));
    }
    return *text;
}

std::string TableReader::string(std::string_view key, std::string_view fallback) const {
    const TomlValue* node = state_->find(key);
    return node == nullptr ? std::string(fallback) : state_->or_else(std::string(fallback), [&] {
        return state_->plain_string(key, *node, "a string");
    });
}

std::string TableReader::required_string(std::string_view key) const {
    const TomlValue* node = state_->find(key);
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
    const TomlValue* node = state_->find(key);
    if (node == nullptr) {
        return {};
    }
    const auto* value = node->get<std::string>();
    if (value == nullptr) {
        note(state_->wrong_type(key, "a string", *node));
        return {};
    }
    return *value;
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
    const TomlValue* node = state_->find(key);
    if (node == nullptr) {
        return fallback;
    }
    const bool* value = node->get<bool>();
    if (value == nullptr) {
        note(state_->wrong_type(key, "a boolean", *node));
        return fallback;
    }
    return *value;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t minimum,
                                                 std::int64_t maximum) const {
    const TomlValue* node = state_->find(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    const auto* value = node->get<std::int64_t>();
    if (value == nullptr) {
        note(state_->wrong_type(key, "an integer", *node));
        return std::nullopt;
    }
    if (*value < minimum || *value > maximum) {
        note(error_at(location(key), "\"{}\" must be between {} and {}, not {}", full_name(key),
                      minimum, maximum, *value));
        return std::nullopt;
    }
    return *value;
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
    const TomlValue* node = state_->find(key);
    std::vector<LocatedString> found;
    if (node == nullptr) {
        return found;
    }
    const auto* array = node->get<TomlArray>();
    if (array == nullptr) {
        note(state_->wrong_type(key, "an array of strings", *node));
        return found;
    }
    for (const TomlValue& item : *array) {
        if (const auto* value = item.get<std::string>()) {
            found.push_back({*value, item.place.location()});
        } else {
            note(state_->wrong_type(key, "an array of strings", item));
        }
    }
    return found;
}

std::vector<LocatedString> TableReader::string_or_strings(std::string_view key) const {
    const TomlValue* node = state_->find(key);
    if (node == nullptr || node->get<TomlArray>() != nullptr) {
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
    const TomlValue* node = state_->find(key);
    if (node != nullptr && node->get<std::int64_t>() != nullptr) {
        const auto number = integer(key, 0, maximum);
        return number ? std::to_string(*number) : std::string(fallback);
    }
    return string(key, fallback);
}

std::optional<TableReader> TableReader::table(std::string_view key) const {
    const TomlValue* node = state_->find(key);
    if (node == nullptr) {
        return std::nullopt;
    }
    if (node->get<TomlTable>() == nullptr) {
        note(state_->wrong_type(key, "a table", *node));
        return std::nullopt;
    }
    return TableReader(state_->child(key, *node));
}

std::vector<StringOrTable> TableReader::strings_or_tables(std::string_view key) const {
    constexpr const char* expected = "an array of strings and tables";
    const TomlValue* node = state_->find(key);
    const auto* array = node == nullptr ? nullptr : node->get<TomlArray>();
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
    for (const TomlValue& item : *array) {
        if (item.get<TomlTable>() != nullptr) {
            found.push_back({{}, TableReader(state_->child(key, item))});
        } else {
            attempt([&] {
                std::string text = state_->plain_string(key, item, expected);
                found.push_back({{std::move(text), item.place.location()}, std::nullopt});
            });
        }
    }
    return found;
}

std::vector<TableReader> TableReader::tables(std::string_view key) const {
    const TomlValue* node = state_->find(key);
    std::vector<TableReader> found;
    if (node == nullptr) {
        return found;
    }
    const auto* array = node->get<TomlArray>();
    if (array == nullptr) {
        note(state_->wrong_type(key, "an array of tables", *node));
        return found;
    }
    if (array->size() > most_tables) {
        note(error_at(location(key), "\"{}\" has {} elements, more than {}", full_name(key),
                      array->size(), most_tables));
        return found;
    }
    for (const TomlValue& item : *array) {
        if (item.get<TomlTable>() != nullptr) {
            found.push_back(TableReader(state_->child(key, item)));
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
