#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/ranges.hpp"

/// Structures as JSON objects whose members have the names of theirs: one list of members for
/// writing and reading.
namespace edgegpu::gpu_health {

using Json = nlohmann::json;

/// A member of a structure and its name.
template <typename Owner, typename Member>
struct Field {
    std::string_view name;
    Member Owner::*member;
};
template <typename Owner, typename Member>
Field(std::string_view, Member Owner::*) -> Field<Owner, Member>;

/// The name that a member has in the sources, from what compilers call this function:
/// "… [with auto member = &edgegpu::gpu_health::Owner::name; …]".
template <auto member>
[[nodiscard]] consteval std::string_view member_name() {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("member = &"));
    text = text.substr(0, text.find_first_of(";]"));
    return text.substr(text.rfind(':') + 1);
}

/// A tuple of Fields.
template <auto... members>
inline constexpr auto fields = std::tuple{Field{member_name<members>(), members}...};

/// Specialised for each structure that is written: `list` has its `fields`.
template <typename T>
struct FieldsOf;

template <typename T>
concept Described = requires {
    FieldsOf<T>::list;
};

/// Enumerations: `names` is an array with a name for each value from 0.
template <typename T>
struct NamesOf;

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsMap : std::false_type {};
template <typename T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

/// A value as JSON; of structures, members with their default value are left out.
template <typename T>
[[nodiscard]] Json json_of(const T& value) {
    if constexpr (Described<T>) {
        Json object = Json::object();
        const T initial{};
        const auto add = [&](const auto& field) {
            if (value.*field.member != initial.*field.member) {
                object[field.name] = json_of(value.*field.member);
            }
        };
        std::apply([&](const auto&... fields) { (add(fields), ...); }, FieldsOf<T>::list);
        return object;
    } else if constexpr (IsVector<T>::value) {
        return mapped(value, [](const auto& one) { return json_of(one); });
    } else if constexpr (IsMap<T>::value) {
        Json object = Json::object();
        for (const auto& [name, one] : value) {
            object[name] = json_of(one);
        }
        return object;
    } else if constexpr (IsOptional<T>::value) {
        return value ? json_of(*value) : Json();
    } else if constexpr (std::is_enum_v<T>) {
        return NamesOf<T>::names.at(static_cast<std::size_t>(value));
    } else {
        return value;
    }
}

/// The text of `json_of`, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
template <typename T>
[[nodiscard]] std::string json_text(const T& value) {
    return json_of(value).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Throws std::runtime_error "WHERE: WHAT".
[[noreturn]] inline void refuse(const std::string& where, const std::string& what) {
    throw std::runtime_error(where.empty() ? what : where + ": " + what);
}

/// Whole numbers: nothing is cut off.
template <std::integral T>
requires(!std::same_as<T, bool>) void read_json(const Json& json, const std::string& where,
                                                T& value) {
    if (!json.is_number_integer()) {
        refuse(where, "it is no whole number");
    }
    // A number without a sign is unsigned for the parser, however small it is.
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
        refuse(where, "it must be from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                          std::to_string(std::numeric_limits<T>::max()));
    }
    value = json.get<T>();
}

/// Puts what JSON has into `value`: of structures and maps, the members that it names; the rest
/// keeps its value. Throws std::runtime_error "functions[0].address: …" for members that are not
/// there, or have another type or no room for the number.
template <typename T>
requires(!std::integral<T> || std::same_as<T, bool>) void read_json(const Json& json,
                                                                    const std::string& where,
                                                                    T& value) {
    if constexpr (Described<T>) {
        if (!json.is_object()) {
            refuse(where, "it is no object");
        }
        for (const auto& item : json.items()) {
            const std::string& name = item.key();
            const std::string place = where.empty() ? name : where + "." + name;
            bool known = false;
            const auto read = [&](const auto& field) {
                if (name == field.name) {
                    known = true;
                    read_json(item.value(), place, value.*field.member);
                }
            };
            std::apply([&](const auto&... fields) { (read(fields), ...); }, FieldsOf<T>::list);
            if (!known) {
                refuse(place, "there is no such member");
            }
        }
    } else if constexpr (IsVector<T>::value) {
        if (!json.is_array()) {
            refuse(where, "it is no array");
        }
        value.clear();
        for (const Json& one : json) {
            typename T::value_type element{};
            read_json(one, where + "[" + std::to_string(value.size()) + "]", element);
            value.push_back(std::move(element));
        }
    } else if constexpr (IsMap<T>::value) {
        if (!json.is_object()) {
            refuse(where, "it is no object");
        }
        for (const auto& [name, one] : json.items()) {
            read_json(one, where + "." + name, value[name]);
        }
    } else if constexpr (IsOptional<T>::value) {
        value.reset();
        if (!json.is_null()) {
            read_json(json, where, value.emplace());
        }
    } else if constexpr (std::is_enum_v<T>) {
        for (std::size_t i = 0; i < NamesOf<T>::names.size(); ++i) {
            if (json == NamesOf<T>::names[i]) {
                value = static_cast<T>(i);
                return;
            }
        }
        refuse(where, "it is none of the words that are known");
    } else if constexpr (std::same_as<T, bool>) {
        if (!json.is_boolean()) {
            refuse(where, "it is neither true nor false");
        }
        value = json.get<bool>();
    } else if constexpr (std::same_as<T, double>) {
        if (!json.is_number()) {
            refuse(where, "it is no number");
        }
        value = json.get<double>();
    } else {
        if (!json.is_string()) {
            refuse(where, "it is no text");
        }
        value = json.get<std::string>();
    }
}

/// Reads a JSON text into `value` as read_json does. Throws std::runtime_error.
template <typename T>
void read_json_text(std::string_view text, T& value) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
        refuse({}, "it is no JSON");
    }
    if (!json.is_object()) {
        refuse({}, "it is no object");
    }
    read_json(json, {}, value);
}

}  // namespace edgegpu::gpu_health
