#include "blueprint/document/parameter_values.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "blueprint/toml/toml_reader.hpp"
#include "blueprint/toml/validate.hpp"
#include "support/files/file.hpp"
#include "support/text/enum_names.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"
#include "support/text/utf8.hpp"

namespace edgegpu {

namespace {

/// `type` of a parameter.
enum class ParameterType { string, integer, boolean, strings };

constexpr std::string_view enum_name(ParameterType type) {
    return nth_name(type, {"string", "integer", "boolean", "strings"});
}

std::string_view described(ParameterType type) {
    return nth_name(type, {"a string", "an integer", "a boolean", "an array of strings"});
}

/// A declared parameter, and its value once there is one.
struct Parameter {
    ParameterType type = ParameterType::string;
    /// Where it is declared, and where its type is.
    SourceLocation location;
    SourceLocation type_location;
    /// Empty: any value.
    TomlArray choices;
    std::optional<TomlValue> value;
};

using Parameters = std::map<std::string, Parameter, std::less<>>;

constexpr std::uint64_t largest_file = 1U << 20U;

bool is_of_type(const TomlValue& value, ParameterType type) {
    switch (type) {
        case ParameterType::string:
            return value.get<std::string>() != nullptr;
        case ParameterType::integer:
            return value.get<std::int64_t>() != nullptr;
        case ParameterType::boolean:
            return value.get<bool>() != nullptr;
        case ParameterType::strings:
            break;
    }
    const auto* array = value.get<TomlArray>();
    return array != nullptr && std::ranges::all_of(*array, [](const TomlValue& element) {
               return element.get<std::string>() != nullptr;
           });
}

void require_choice(const std::string& name, const Parameter& parameter, const TomlValue& value) {
    const auto* elements = value.get<TomlArray>();
    for (const TomlValue& element : elements == nullptr ? TomlArray{value} : *elements) {
        const bool known = std::ranges::any_of(parameter.choices, [&](const TomlValue& choice) {
            return scalar_text(choice) == scalar_text(element);
        });
        if (known || parameter.choices.empty()) {
            continue;
        }
        std::vector<std::string> names;
        for (const TomlValue& choice : parameter.choices) {
            names.push_back(scalar_text(choice));
        }
        const std::string near = near_names_hint(scalar_text(element), names);
        throw error_at(value.place.location(), "parameter \"{}\" must be one of {}, not \"{}\"",
                       name, fmt::format("{}", fmt::join(names, ", ")), scalar_text(element))
            .hinted(near);
    }
}

void require_type(const std::string& name, const Parameter& parameter, const TomlValue& value) {
    if (!is_of_type(value, parameter.type)) {
        throw error_at(value.place.location(), "parameter \"{}\" must be {}, not {}", name,
                       described(parameter.type), value.type_name())
            .hinted(fmt::format("its type is \"{}\": {}", parameter.type,
                                parameter.type_location.text()));
    }
}

/// Gives the parameter a value. Throws at the value's place if it cannot have it.
void assign(const std::string& name, Parameter& parameter, TomlValue value) {
    require_type(name, parameter, value);
    require_choice(name, parameter, value);
    parameter.value = std::move(value);
}

void read_choices(const std::string& name, const TomlValue& choices, Parameter& parameter) {
    const bool fits = parameter.type != ParameterType::boolean &&
                      choices.get<TomlArray>() != nullptr &&
                      std::ranges::all_of(*choices.get<TomlArray>(), [&](const TomlValue& choice) {
                          return is_of_type(choice, parameter.type == ParameterType::integer
                                                        ? ParameterType::integer
                                                        : ParameterType::string);
                      });
    if (!fits || choices.get<TomlArray>()->empty()) {
        throw error_at(choices.place.location(), "\"parameters.{}.one_of\" must be an array of {}",
                       name, parameter.type == ParameterType::integer ? "integers" : "strings")
            .hinted(parameter.type == ParameterType::boolean ? "a boolean needs none" : "");
    }
    parameter.choices = *choices.get<TomlArray>();
}

Parameters read_declarations(const TomlValue& declared, Mistakes& mistakes) {
    Parameters parameters;
    TomlValue root;
    root.value = TomlTable{{"parameters", {declared.place, declared, 0}}};
    const auto document = std::make_shared<const TomlValue>(std::move(root));
    const auto all = TableReader::of(document, mistakes).table("parameters");
    if (!all) {
        return parameters;
    }
    for (const std::string& name : all->keys()) {
        const auto table = all->table(name);
        if (!table) {
            continue;
        }
        Parameter& parameter = parameters[name];
        parameter.location = table->location();
        parameter.type_location = table->location("type");
        const bool valid = mistakes.attempt([&] {
            if (!is_plain_name(name, "_-")) {
                throw error_at(parameter.location, "invalid name of a parameter \"{}\"", name)
                    .hinted("letters, digits, '_' and '-'");
            }
        });
        const std::size_t before = mistakes.count();
        parameter.type = table->choice("type", ParameterType::string);
        static_cast<void>(table->text("description"));
        table->finish({"default", "one_of"});
        if (!valid || mistakes.count() != before) {
            continue;
        }
        const TomlTable& fields = *find_value(*declared.get<TomlTable>(), name)->get<TomlTable>();
        mistakes.attempt([&] {
            if (const TomlValue* choices = find_value(fields, "one_of")) {
                read_choices(name, *choices, parameter);
            }
            if (const TomlValue* fallback = find_value(fields, "default")) {
                assign(name, parameter, *fallback);
            }
        });
    }
    return parameters;
}

/// A value of the command line as the parameter's type. It is never read as TOML.
TomlValue value_of_text(const std::string& name, const Parameter& parameter,
                        const std::string& text) {
    TomlValue value;
    value.place.file = std::make_shared<const std::string>("--set " + name);
    const auto wrong = [&](std::string_view example) {
        return error_at(value.place.location(), "\"{}\" is not {}", text, described(parameter.type))
            .hinted(fmt::format("as in --set {}={}; its type is \"{}\": {}", name, example,
                                parameter.type, parameter.type_location.text()));
    };
    if (!is_utf8(text)) {
        throw error_at(value.place.location(), "the value is not UTF-8");
    }
    switch (parameter.type) {
        case ParameterType::string:
            value.value = text;
            break;
        case ParameterType::integer: {
            const auto number = whole_number<std::int64_t>(text);
            if (!number) {
                throw wrong("4");
            }
            value.value = *number;
            break;
        }
        case ParameterType::boolean:
            if (text != "true" && text != "false") {
                throw wrong("true");
            }
            value.value = text == "true";
            break;
        case ParameterType::strings: {
            TomlArray list;
            for (const std::string_view part : split(text, ',')) {
                if (!text.empty()) {
                    list.push_back({std::string(part), value.place});
                }
            }
            value.value = std::move(list);
            break;
        }
    }
    return value;
}

Parameter& declared(Parameters& parameters, const SourceLocation& location, const std::string& file,
                    const std::string& name) {
    const auto found = parameters.find(name);
    if (found != parameters.end()) {
        return found->second;
    }
    std::vector<std::string> names;
    for (const auto& [known, parameter] : parameters) {
        names.push_back(known);
    }
    throw unknown_parameter(location, file, name, names);
}

void take_given(Parameters& parameters, const std::string& file, const GivenParameters& given,
                Mistakes& mistakes) {
    for (const std::filesystem::path& path : given.files) {
        mistakes.attempt([&] {
            std::string text;
            try {
                text = read_file(path, largest_file);
            } catch (const Error& failure) {
                throw error_at({"--parameters", 0, 0}, "{}", failure.message());
            }
            const TomlValue values = parse_toml(path.string(), text);
            const TomlTable& table = *values.get<TomlTable>();
            for (const std::string& name : ordered_keys(table)) {
                const TomlMember& member = table.at(name);
                mistakes.attempt([&] {
                    assign(name, declared(parameters, member.place.location(), file, name),
                           member.value);
                });
            }
        });
    }
    std::set<std::string> seen;
    for (const std::string& text : given.set) {
        mistakes.attempt([&] {
            const std::size_t sign = std::min(text.find('='), text.size());
            const std::string name = text.substr(0, sign);
            if (sign == text.size() || name.empty()) {
                throw error_at({"--set", 0, 0}, "\"{}\" is not NAME=VALUE", text);
            }
            const SourceLocation location{"--set " + name, 0, 0};
            Parameter& parameter = declared(parameters, location, file, name);
            if (!seen.insert(name).second) {
                throw error_at(location, "the parameter is given twice");
            }
            assign(name, parameter, value_of_text(name, parameter, text.substr(sign + 1)));
        });
    }
}

}  // namespace

std::string scalar_text(const TomlValue& value) {
    if (const auto* text = value.get<std::string>()) {
        return *text;
    }
    if (const auto* number = value.get<std::int64_t>()) {
        return std::to_string(*number);
    }
    const bool* boolean = value.get<bool>();
    return boolean != nullptr && *boolean ? "true" : "false";
}

Error unknown_parameter(const SourceLocation& location, const std::string& file,
                        const std::string& name, const std::vector<std::string>& names) {
    const std::string near = near_names_hint(name, names);
    return error_at(location, "{} has no parameter \"{}\"", file, name)
        .hinted(!near.empty()   ? near
                : names.empty() ? fmt::format("declare it: [parameters.{}]", name)
                                : fmt::format("its parameters: {}", fmt::join(names, ", ")));
}

ParameterValues read_parameter_values(const TomlValue* declarations, const std::string& file,
                                      const GivenParameters& given, Mistakes& mistakes) {
    Parameters parameters;
    if (declarations != nullptr) {
        parameters = read_declarations(*declarations, mistakes);
    }
    take_given(parameters, file, given, mistakes);
    // A value that was refused is not missing.
    const bool well_given = mistakes.empty();
    ParameterValues values;
    for (auto& [name, parameter] : parameters) {
        if (!parameter.value && well_given) {
            mistakes.add(
                error_at(parameter.location, "parameter \"{}\" has no value", name)
                    .hinted(fmt::format("give it one: --set {}=VALUE, or default = VALUE", name)));
        }
        values[name] = {parameter.location, std::move(parameter.value), false};
    }
    return values;
}

}  // namespace edgegpu
