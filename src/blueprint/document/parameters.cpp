#include "blueprint/document/parameters.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "blueprint/document/parameter_values.hpp"

namespace edgegpu {

namespace {

/// The text of all values together, which a short parameter can multiply.
constexpr std::size_t most_inserted = 64U << 20U;

/// Replaces the parameters in the strings of a blueprint.
class Replacing {
public:
    Replacing(ParameterValues& parameters, const std::string& file, Mistakes& mistakes)
        : parameters_(parameters), file_(file), mistakes_(mistakes) {}

    // NOLINTNEXTLINE(misc-no-recursion): the parser has limited the depth
    void replace(TomlValue& value, bool is_element = false) {
        if (inserted_ > most_inserted) {
            return;
        }
        if (auto* table = value.get<TomlTable>()) {
            for (auto& [key, member] : *table) {
                if (key.find(parameter_mark) != std::string::npos) {
                    mistakes_.add(error_at(member.place.location(),
                                           "a key cannot have parameters: \"{}\"", key));
                }
                replace(member.value);
            }
        } else if (auto* array = value.get<TomlArray>()) {
            for (TomlValue& element : *array) {
                replace(element, true);
            }
        } else if (auto* text = value.get<std::string>();
                   text != nullptr && text->find(parameter_mark) != std::string::npos) {
            mistakes_.attempt([&] { replace_text(value, *text, is_element); });
        }
    }

private:
    void replace_text(TomlValue& value, const std::string& text, bool is_element) {
        const SourceLocation location = value.place.location();
        std::string replaced;
        std::string_view rest = text;
        while (true) {
            const std::size_t at = rest.find(parameter_mark);
            if (at == std::string_view::npos) {
                break;
            }
            if (at > 0 && rest[at - 1] == '$') {
                replaced += rest.substr(0, at - 1);
                replaced += parameter_mark;
                rest.remove_prefix(at + parameter_mark.size());
                continue;
            }
            replaced += rest.substr(0, at);
            rest.remove_prefix(at + parameter_mark.size());
            const std::size_t end = rest.find('}');
            if (end == std::string_view::npos) {
                throw error_at(location, "\"{}\" without \"}}\"", parameter_mark)
                    .hinted("\"$${parameters.\" is that text itself");
            }
            const std::string name(rest.substr(0, end));
            rest.remove_prefix(end + 1);
            const TomlValue* inserted = value_for(name, location, value);
            const bool whole = name.size() + parameter_mark.size() + 1 == text.size();
            if (inserted == nullptr) {
                continue;  // there is a mistake already
            }
            if (whole && !(is_element && inserted->get<TomlArray>() != nullptr)) {
                take_whole(value, *inserted);
                return;
            }
            if (inserted->get<TomlArray>() != nullptr) {
                throw error_at(location,
                               "parameter \"{}\" is an array: it can only be the whole value of a "
                               "key",
                               name)
                    .hinted(fmt::format("as in KEY = \"{}{}}}\"", parameter_mark, name));
            }
            const std::string more = scalar_text(*inserted);
            count(more.size(), location);
            replaced += more;
        }
        value.value = replaced += rest;
    }

    /// Counts what is inserted. Each value takes memory, whatever its size.
    void count(std::size_t size, const SourceLocation& location) {
        inserted_ += size + sizeof(TomlValue);
        if (inserted_ > most_inserted) {
            throw error_at(location, "parameters become more than {} MiB of values",
                           most_inserted >> 20U);
        }
    }

    /// The value of a parameter, marked as used; nullptr if it has none, which has been noted.
    const TomlValue* value_for(const std::string& name, const SourceLocation& location,
                               TomlValue& target) {
        const auto found = parameters_.find(name);
        if (found == parameters_.end()) {
            std::vector<std::string> names;
            for (const auto& [known, parameter] : parameters_) {
                names.push_back(known);
            }
            throw unknown_parameter(location, file_, name, names);
        }
        ParameterValue& parameter = found->second;
        parameter.used = true;
        if (!parameter.value) {
            return nullptr;
        }
        constexpr std::size_t longest_origin = 200;
        if (target.origin.size() < longest_origin) {
            const SourceLocation from = parameter.value->place.location();
            target.origin +=
                fmt::format("{}{} from {}", target.origin.empty() ? "" : ", ", name,
                            from.line == 0 ? "--set" : fmt::format("{}:{}", from.file, from.line));
        }
        return &*parameter.value;
    }

    /// What is inserted is where the blueprint names the parameter.
    void take_whole(TomlValue& value, const TomlValue& inserted) {
        const SourceLocation location = value.place.location();
        if (const auto* array = inserted.get<TomlArray>()) {
            for (const TomlValue& element : *array) {
                count(scalar_text(element).size(), location);
            }
        } else {
            count(scalar_text(inserted).size(), location);
        }
        value.value = inserted.value;
        if (auto* array = value.get<TomlArray>()) {
            for (TomlValue& element : *array) {
                element.place = value.place;
                element.origin = value.origin;
            }
        }
    }

    ParameterValues& parameters_;
    const std::string& file_;
    Mistakes& mistakes_;
    std::size_t inserted_ = 0;
};

/// Notes strings below `value` that have parameters.
// NOLINTNEXTLINE(misc-no-recursion): the parser has limited the depth
void refuse_parameters(const TomlValue& value, std::string_view where, Mistakes& mistakes) {
    if (const auto* table = value.get<TomlTable>()) {
        for (const auto& [key, member] : *table) {
            refuse_parameters(member.value, where, mistakes);
        }
    } else if (const auto* array = value.get<TomlArray>()) {
        for (const TomlValue& element : *array) {
            refuse_parameters(element, where, mistakes);
        }
    } else if (const auto* text = value.get<std::string>();
               text != nullptr && text->find(parameter_mark) != std::string::npos) {
        mistakes.add(error_at(value.place.location(), "{} cannot have parameters", where));
    }
}

}  // namespace

std::vector<std::string> replace_parameters(TomlValue& root, const std::string& file,
                                            const GivenParameters& given, Mistakes& mistakes) {
    TomlTable& table = *root.get<TomlTable>();
    const auto declarations = table.extract("parameters");
    const TomlValue* declared = declarations ? &declarations.mapped().value : nullptr;
    if (declared != nullptr) {
        refuse_parameters(*declared, "[parameters]", mistakes);
    }
    ParameterValues parameters = read_parameter_values(declared, file, given, mistakes);
    Replacing(parameters, file, mistakes).replace(root);
    std::vector<std::string> warnings;
    for (const auto& [name, parameter] : parameters) {
        if (!parameter.used) {
            warnings.push_back(
                fmt::format("{}: parameter \"{}\" is not used: no value has \"{}{}}}\"",
                            parameter.location.text(), name, parameter_mark, name));
        }
    }
    return warnings;
}

std::string without_parameters(std::string_view text) {
    std::string written;
    for (std::size_t at = text.find(parameter_mark); at != std::string_view::npos;
         at = text.find(parameter_mark)) {
        written += text.substr(0, at);
        written += '$';
        written += parameter_mark;
        text.remove_prefix(at + parameter_mark.size());
    }
    return written += text;
}

}  // namespace edgegpu
