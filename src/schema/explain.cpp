#include "schema/explain.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/field_hint.hpp"
#include "schema/formats.hpp"
#include "schema/typed_value.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

using nlohmann::json;

/// Keys by their text, and indexes, which are all digits, by their value.
struct PlaceOrder {
    bool operator()(const std::vector<std::string>& a, const std::vector<std::string>& b) const {
        return std::lexicographical_compare(
            a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
                const bool numbers = is_number(left) && is_number(right);
                return numbers && left.size() != right.size() ? left.size() < right.size()
                                                              : left < right;
            });
    }

    static bool is_number(const std::string& text) {
        return text.find_first_not_of("0123456789") == std::string::npos;
    }
};

/// The types that a schema allows; none: any.
std::vector<std::string> types_of(const json& schema) {
    const auto type = schema.find("type");
    if (type == schema.end()) {
        return {};
    }
    return type->is_string() ? std::vector{type->get<std::string>()}
                             : type->get<std::vector<std::string>>();
}

bool has_type(const json& value, std::string_view type) {
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "integer" && value.is_number_integer()) ||
           (type == "number" && value.is_number());
}

std::string_view type_text(std::string_view type) {
    return type == "object"    ? "a map"
           : type == "array"   ? "a list"
           : type == "string"  ? "a string"
           : type == "boolean" ? "true or false"
           : type == "integer" ? "an integer"
                               : "a number";
}

std::string expected_text(const json& schema, const std::vector<std::string>& types) {
    if (schema.value("x-format", "") == enum_name(StringFormat::quantity)) {
        return "a quantity";
    }
    return fmt::format("{}", fmt::join(mapped(types, type_text), " or "));
}

/// What is probably wrong with a scalar of another type.
std::string_view type_hint(const json& value, const std::vector<std::string>& types) {
    const auto allowed = [&](std::string_view type) {
        return std::ranges::find(types, type) != types.end();
    };
    if (allowed("string") && (value.is_number() || value.is_boolean())) {
        return "; put it in quotes";
    }
    if (value.is_string()) {
        const auto& text = value.get_ref<const std::string&>();
        if ((allowed("integer") && whole_number<std::int64_t>(text)) ||
            (allowed("boolean") && (text == "true" || text == "false"))) {
            return "; write it without quotes";
        }
    }
    if (types == std::vector<std::string>{"array"} && value.is_object()) {
        return "; begin each element with \"- \"";
    }
    return {};
}

/// What a name or a label's value has to be.
std::string_view rule_of(StringFormat format) {
    return format == StringFormat::dns_label ? "a name of 1 to 63 lower-case letters, digits and "
                                               "\"-\", with a letter or digit at "
                                               "both ends"
           : format == StringFormat::dns_subdomain
               ? "a name of 1 to 253 lower-case letters, digits, \"-\" and \".\", with a letter or "
                 "digit at both ends"
               : "a label's value: at most 63 letters, digits, \"-\", \"_\" and \".\", with a "
                 "letter "
                 "or digit at both ends";
}

/// Explains the places of one object.
class Explainer {
public:
    Explainer(Definitions& definitions, const std::string& root, const json& object)
        : definitions_(definitions),
          root_{&definitions.find(root), root},
          object_(object),
          hides_values_(root == "core.v1.Secret") {}

    /// Adds what is wrong with the value at `place` itself, not with what it contains.
    void explain(const std::vector<std::string>& place) {
        path_.clear();
        trail_ = {root_};
        const json* value = &object_;
        for (const std::string& step : place) {
            value = descend(*value, step);
            if (value == nullptr) {
                return;
            }
        }
        const json& schema = *trail_.back().schema;
        const std::vector<std::string> types = types_of(schema);
        if (!types.empty() &&
            std::ranges::none_of(types, [&](const auto& type) { return has_type(*value, type); })) {
            explain_type(*value, schema, types);
        } else if (value->is_object()) {
            explain_members(*value, schema);
        } else if (value->is_array()) {
            explain_list(*value, schema);
        } else {
            explain_scalar(*value, schema);
        }
    }

    std::vector<SchemaProblem> problems;

private:
    /// The value one step further, of which path and trail then tell; null: the schema or the
    /// object ends here.
    const json* descend(const json& value, const std::string& step) {
        std::optional<Definition> next;
        const json* inner = nullptr;
        if (value.is_array()) {
            const auto index = leading_number<std::size_t>(step);
            next = definitions_.element(*trail_.back().schema);
            inner = index < value.size() ? &value[index] : nullptr;
            path_.emplace_back(index);
        } else if (const auto member = value.find(step); member != value.end()) {
            next = definitions_.member(*trail_.back().schema, step);
            inner = &*member;
            path_.emplace_back(step);
        }
        if (!next || inner == nullptr) {
            return nullptr;
        }
        trail_.push_back(std::move(*next));
        return inner;
    }

    void add(const std::string& text) { problems.push_back(problem_at(path_, text)); }

    void add_member(const std::string& key, const std::string& text) {
        path_.emplace_back(key);
        add(text);
        path_.pop_back();
    }

    [[nodiscard]] std::string shown(const json& value) const {
        if (value.is_structured()) {
            return value.is_object() ? "a map" : "a list";
        }
        if (hides_values_) {
            return value.is_string() ? "a string" : value.is_number() ? "a number" : "the value";
        }
        return value.is_string() ? quoted_text(value.get_ref<const std::string&>()) : value.dump();
    }

    void explain_type(const json& value, const json& schema,
                      const std::vector<std::string>& types) {
        const std::string expected = expected_text(schema, types);
        const bool structures = types.front() == "object" || types.front() == "array";
        if (value.is_number_float() && types.back() == "integer" &&
            (value > 9e18 || value < -9e18)) {
            add(fmt::format("{} does not fit into 64 bits", shown(value)));
        } else if (value.is_structured() || structures) {
            add(fmt::format("{} where {} is expected{}", shown(value), expected,
                            type_hint(value, types)));
        } else {
            add(fmt::format("{} is not {}{}", shown(value), expected, type_hint(value, types)));
        }
    }

    void explain_members(const json& value, const json& schema) {
        if (const auto required = schema.find("required"); required != schema.end()) {
            for (const json& name : *required) {
                if (!value.contains(name.get_ref<const std::string&>())) {
                    add_member(name.get<std::string>(), "required");
                }
            }
        }
        const auto others = schema.find("additionalProperties");
        if (others == schema.end() || *others != false) {
            return;
        }
        const json& known = schema.at("properties");
        for (const auto& [name, member] : value.items()) {
            if (problems.size() > max_problems) {
                return;
            }
            if (!known.contains(name)) {
                add_member(name,
                           "unknown field" + unknown_field_hint(definitions_, trail_, path_, name));
            }
        }
    }

    void explain_list(const json& list, const json& schema) {
        if (!has_list_keys(schema)) {
            return;
        }
        for (const std::string& key : repeated_keys(schema, list)) {
            add(fmt::format("there is more than one element with {}; keep one of them", key));
        }
    }

    void explain_bounds(const json& value, const json& schema) {
        constexpr auto most = std::numeric_limits<std::int32_t>::max();
        const bool over = schema.contains("maximum") && value > schema["maximum"];
        const bool under = schema.contains("minimum") && value < schema["minimum"];
        if (over && schema["maximum"] < most) {
            add(fmt::format("{} is more than {}", shown(value), schema["maximum"].dump()));
        } else if (under && schema["minimum"] > -most) {
            add(fmt::format("{} is less than {}", shown(value), schema["minimum"].dump()));
        } else if (over || under) {
            add(fmt::format("{} does not fit into 32 bits", shown(value)));
        }
    }

    void explain_choice(const json& value, const json& choices) {
        std::vector<std::string> names;
        for (const json& choice : choices) {
            if (choice.is_string() && !choice.get_ref<const std::string&>().empty()) {
                names.push_back(choice.get<std::string>());
            }
        }
        const auto near = value.is_string()
                              ? nearest_names(value.get_ref<const std::string&>(), names)
                              : std::vector<std::string>();
        add(near.empty() ? fmt::format("{} is none of {}", shown(value), fmt::join(names, ", "))
                         : fmt::format("{} is none of {}; did you mean \"{}\"?", shown(value),
                                       fmt::join(names, ", "), near.front()));
    }

    void explain_scalar(const json& value, const json& schema) {
        if (value.is_number()) {
            explain_bounds(value, schema);
        }
        if (const auto choices = schema.find("enum");
            choices != schema.end() && std::ranges::find(*choices, value) == choices->end()) {
            explain_choice(value, *choices);
        }
        const auto format = value_named<StringFormat>(schema.value("x-format", ""));
        if (!format || !value.is_string()) {
            return;
        }
        const auto& text = value.get_ref<const std::string&>();
        if (has_format(text, *format)) {
            return;
        }
        switch (*format) {
            case StringFormat::quantity: {
                const auto near = near_quantity(text);
                add(fmt::format("{} is not a quantity such as 500m, 2 or 1Gi{}", shown(value),
                                near ? fmt::format("; did you mean {}?", *near) : ""));
                break;
            }
            case StringFormat::byte:
                add(hides_values_ ? "is not base64; stringData takes plain text" : "is not base64");
                break;
            case StringFormat::duration:
                add(fmt::format("{} is not a duration such as 30s, 1m30s or 1h", shown(value)));
                break;
            case StringFormat::date_time:
                add(fmt::format("{} is not a time such as 2025-01-31T12:00:00Z", shown(value)));
                break;
            case StringFormat::dns_label:
            case StringFormat::dns_subdomain:
            case StringFormat::label_value:
                // Never a secret.
                add(fmt::format("{} is not {}", quoted_text(text), rule_of(*format)));
                break;
        }
    }

    Definitions& definitions_;
    Definition root_;
    const json& object_;
    bool hides_values_;
    ObjectPath path_;
    std::vector<Definition> trail_;
};

}  // namespace

std::vector<SchemaProblem> explain_failures(Definitions& definitions, const std::string& root,
                                            const json& object,
                                            const std::vector<SchemaFailure>& failures) {
    const auto places =
        mapped_to<std::set<std::vector<std::string>, PlaceOrder>>(failures, &SchemaFailure::place);
    Explainer explainer(definitions, root, object);
    for (const auto& place : places) {
        if (explainer.problems.size() > max_problems) {
            break;
        }
        explainer.explain(place);
    }
    if (explainer.problems.empty() && !failures.empty()) {
        // Nothing that the tables contain leads here.
        explainer.problems.push_back({"", failures.front().text});
    }
    return std::move(explainer.problems);
}

}  // namespace edgegpu
