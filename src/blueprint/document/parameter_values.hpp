#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/document/parameters.hpp"
#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_value.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// A parameter of a blueprint.
struct ParameterValue {
    /// Where it is declared.
    SourceLocation location;
    /// Nothing: it has none, or a wrong one, which is a mistake.
    std::optional<TomlValue> value;
    bool used = false;
};

using ParameterValues = std::map<std::string, ParameterValue, std::less<>>;

/// Reads `[parameters]` (null: the blueprint has none) and gives each parameter its value: that of
/// the command line, else its default. Notes mistakes in either. Messages call the blueprint
/// `file`.
[[nodiscard]] ParameterValues read_parameter_values(const TomlValue* declarations,
                                                    const std::string& file,
                                                    const GivenParameters& given,
                                                    Mistakes& mistakes);

/// The error for a parameter that `file` does not have; `names` are those that it has.
[[nodiscard]] Error unknown_parameter(const SourceLocation& location, const std::string& file,
                                      const std::string& name,
                                      const std::vector<std::string>& names);

/// A string, an integer or a boolean as text.
[[nodiscard]] std::string scalar_text(const TomlValue& value);

}  // namespace edgegpu
