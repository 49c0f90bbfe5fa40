#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/toml/mistakes.hpp"
#include "blueprint/toml/toml_value.hpp"

namespace edgegpu {

/// What the command line says of a blueprint's parameters.
struct GivenParameters {
    /// `--parameters`: TOML files, each key of which is a parameter; later ones take precedence.
    std::vector<std::filesystem::path> files;
    /// `--set`: NAME=VALUE, which takes precedence over files.
    std::vector<std::string> set;
    [[nodiscard]] bool empty() const noexcept { return files.empty() && set.empty(); }
};

/// What precedes the name of a parameter in a string.
inline constexpr std::string_view parameter_mark = "${parameters.";

/// Takes `[parameters]` out of a whole blueprint and replaces "${parameters.NAME}" in its strings.
/// A string that is nothing else becomes a value of the parameter's type; what is inserted is not
/// looked at again. Notes all mistakes, at the place of the value or of the option. Messages call
/// the blueprint `file`. Returns a warning for each parameter that is not used.
[[nodiscard]] std::vector<std::string> replace_parameters(TomlValue& root, const std::string& file,
                                                          const GivenParameters& given,
                                                          Mistakes& mistakes);

/// `text` as a string of a blueprint has to be written, so that nothing in it is a parameter.
[[nodiscard]] std::string without_parameters(std::string_view text);

}  // namespace edgegpu
