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
    const auto* value = state_->typed<std::string>(key, "a string");
    return value == nullptr ? std::string() : *value;
}

std::string TableReader::choice(std::string_view key, std::string_view fallback,
                                std::initializer_list<std::string_view> choices) const {
    std::string value = string(key, fallback);
    if (value == fallback || std::ranges::find(choices, value) != choices.end()) {
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
    const bool* value = state_->typed<bool>(key, "a boolean");
    return value == nullptr ? fallback : *value;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t minimum,
                                                 std::int64_t maximum) const {
    const auto* value = state_->typed<std::int64_t>(key, "an integer");
    if (value == nullptr) {
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
    const auto* array = state_->typed<TomlArray>(key, "an array of strings");
    std::vector<LocatedString> found;
    if (array == nullptr) {
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
    if (state_->typed<TomlTable>(key, "a table") == nullptr) {
        return std::nullopt;
    }
    return TableReader(state_->child(key, *state_->find(key)));
}

const TomlArray& TableReader::State::some_tables(std::string_view key, std::string_view expected) {
    static const TomlArray none;
    const auto* array = typed<TomlArray>(key, expected);
    if (array == nullptr) {
        return none;
    }
    if (array->size() > most_tables) {
        mistakes->add(error_at(key_location(key), "\"{}\" has {} elements, more than {}", name(key),
                               array->size(), most_tables));
        return none;
    }
    return *array;
}

std::vector<StringOrTable> TableReader::strings_or_tables(std::string_view key) const {
    constexpr const char* expected = "an array of strings and tables";
    std::vector<StringOrTable> found;
    for (const TomlValue& item : state_->some_tables(key, expected)) {
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
    std::vector<TableReader> found;
    for (const TomlValue& item : state_->some_tables(key, "an array of tables")) {
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
