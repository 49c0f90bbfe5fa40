#include "commands/blueprint_json.hpp"

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "blueprint/fields/blueprint.hpp"
#include "support/ranges.hpp"
#include "transfer/url.hpp"

namespace edgegpu {

namespace {

using nlohmann::ordered_json;

constexpr const char* hidden = "(hidden)";

/// Fields of a struct that are shown.
template <Described Struct>
consteval std::size_t shown_fields() {
    return std::apply(
        [](const auto&... rows) {
            return (static_cast<std::size_t>(std::remove_cvref_t<decltype(rows)>::shown !=
                                             Shown::never) +
                    ...);
        },
        fields_of(static_cast<const Struct*>(nullptr)));
}

template <Shown shown>
ordered_json value_json(const std::string& text) {
    if constexpr (shown == Shown::secret) {
        return text.empty() ? "" : hidden;
    } else if constexpr (shown == Shown::url) {
        return redacted(text);
    } else if constexpr (shown == Shown::text) {
        return text.empty() ? "" : fmt::format("({} bytes)", text.size());
    } else {
        return text;
    }
}

template <Shown shown>
ordered_json value_json(const std::filesystem::path& path) {
    return path.string();
}

template <Shown shown, typename Number>
requires std::integral<Number> ordered_json value_json(Number number) {
    if constexpr (shown == Shown::octal) {
        return fmt::format("{:04o}", number);
    } else {
        return number;
    }
}

template <Shown shown, NamedEnum Enum>
ordered_json value_json(Enum value) {
    return enum_name(value);
}

template <Shown shown, Described Struct>
ordered_json value_json(const Struct& value);
template <Shown shown, typename Value>
ordered_json value_json(const std::vector<Value>& values);
template <Shown shown, typename Value>
ordered_json value_json(const std::map<std::string, Value>& values);

/// null: not set.
template <Shown shown, typename Value>
ordered_json value_json(const std::optional<Value>& value) {
    return value ? value_json<shown>(*value) : ordered_json(nullptr);
}

template <Shown shown, typename Value>
ordered_json value_json(const std::vector<Value>& values) {
    return mapped(values, [&](const Value& value) { return value_json<shown>(value); });
}

template <Shown shown, typename Value>
ordered_json value_json(const std::map<std::string, Value>& values) {
    ordered_json object = ordered_json::object();
    for (const auto& [key, value] : values) {
        object[key] = value_json<shown>(value);
    }
    return object;
}

/// An object, or its only value if there is one: a package request is its spec.
template <Shown shown, Described Struct>
ordered_json value_json(const Struct& value) {
    ordered_json object = ordered_json::object();
    ordered_json single;
    each_field(value, [&]<typename Row>(const Row& row, const auto& owner) {
        if constexpr (Row::shown != Shown::never) {
            single = value_json<Row::shown>(owner.*row.member);
            object[std::string(row.name)] = single;
        }
    });
    return shown_fields<Struct>() == 1 ? single : object;
}

}  // namespace

ordered_json blueprint_json(const Blueprint& blueprint) {
    return value_json<Shown::plain>(blueprint);
}

}  // namespace edgegpu
