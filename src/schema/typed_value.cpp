#include "schema/typed_value.hpp"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/schema_problem.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

constexpr const char* list_keys = "x-list-keys";

/// What Go gives a value of a type that nothing was read into; null: the schema does not say.
json zero_of(const json& schema) {
    const auto type = schema.find("type");
    if (type == schema.end()) {
        return nullptr;
    }
    const std::string first =
        type->is_array() ? type->front().get<std::string>() : type->get<std::string>();
    // An int-or-string is 0, and so is a quantity.
    return first == "object"                                                        ? json::object()
           : first == "array"                                                       ? json::array()
           : first == "boolean"                                                     ? json(false)
           : first == "string" && !type->is_array() && !schema.contains("x-format") ? json("")
                                                                                    : json(0);
}

/// Changes one object in place.
class Reading {
public:
    explicit Reading(Definitions& definitions) : definitions_(definitions) {}

    // NOLINTNEXTLINE(misc-no-recursion): read_as_server limits the depth
    void read(json& value, const json& schema) {
        if (value.is_object()) {
            read_object(value, schema);
        } else if (value.is_array()) {
            read_list(value, schema);
        }
    }

    std::vector<SchemaFailure> failures;

private:
    // NOLINTNEXTLINE(misc-no-recursion)
    void read_object(json& object, const json& schema) {
        const auto others = schema.find("additionalProperties");
        const bool strict = others != schema.end() && *others == false;
        for (auto member = object.begin(); member != object.end();) {
            const std::optional<Definition> known = definitions_.member(schema, member.key());
            if (member->is_null() && (known || !strict)) {
                member = object.erase(member);
                continue;
            }
            if (known) {
                place_.push_back(member.key());
                read(*member, *known->schema);
                place_.pop_back();
            }
            ++member;
        }
    }

    // NOLINTNEXTLINE(misc-no-recursion)
    void read_list(json& list, const json& schema) {
        const bool keyed = has_list_keys(schema);
        const std::optional<Definition> element = definitions_.element(schema);
        for (std::size_t i = 0; element && i < list.size(); ++i) {
            if (list[i].is_null() && !keyed) {
                list[i] = zero_of(*element->schema);
            }
            place_.push_back(std::to_string(i));
            read(list[i], *element->schema);
            place_.pop_back();
        }
        if (keyed && !repeated_keys(schema, list).empty()) {
            failures.push_back({place_, "keys are repeated"});
        }
    }

    Definitions& definitions_;
    std::vector<std::string> place_;
};

/// The key of an element; nothing for one that lacks a part of it, which is another mistake.
std::optional<json> key_of(const json& keys, const json& element) {
    if (keys.empty()) {
        return element.is_string() ? std::optional(element) : std::nullopt;
    }
    json key = json::array();
    for (const auto& [name, otherwise] : keys.items()) {
        const auto part = element.find(name);
        const json& value = part == element.end() ? otherwise : *part;
        if (value.is_null() || value.is_structured()) {
            return std::nullopt;
        }
        key.push_back(value);
    }
    return key;
}

std::string key_text(const json& keys, const json& key) {
    const auto shown = [](const json& value) {
        return value.is_string() ? quoted_text(value.get_ref<const std::string&>()) : value.dump();
    };
    if (keys.empty()) {
        return shown(key);
    }
    std::vector<std::string> parts;
    for (const auto& [name, otherwise] : keys.items()) {
        parts.push_back(name + ' ' + shown(key[parts.size()]));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

TypedValue read_by_schema(Definitions& definitions, const std::string& root, const json& object) {
    TypedValue typed{object, {}};
    Reading reading(definitions);
    reading.read(typed.value, definitions.find(root));
    typed.failures = std::move(reading.failures);
    return typed;
}

bool has_list_keys(const json& schema) {
    return schema.contains(list_keys);
}

std::vector<std::string> repeated_keys(const json& schema, const json& list) {
    const json& keys = schema.at(list_keys);
    std::map<json, unsigned> seen;
    std::vector<std::string> repeated;
    for (const json& element : list) {
        if (const auto key = key_of(keys, element); key && ++seen[*key] == 2) {
            repeated.push_back(key_text(keys, *key));
        }
    }
    return repeated;
}

}  // namespace edgegpu
