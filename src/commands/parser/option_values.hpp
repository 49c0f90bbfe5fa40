#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace edgegpu {

/// Adds an option, or an argument of a name without dashes, whose value is a `kind` in the help:
/// "FILE", or "a|b" of words.
template <typename Target>
CLI::Option* add_value(CLI::App& verb, const char* name, Target& target, const std::string& kind,
                       const std::string& text) {
    return verb.add_option(name, target, text)->type_name(kind);
}

/// Checks of the values of options. None adds a description of its own to the help.

/// One of these words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> choices);

/// Not empty: an empty text, as an unset variable of a script gives, is not the default.
[[nodiscard]] CLI::Validator not_empty();

/// An integer in [least, most].
[[nodiscard]] CLI::Validator number_in(int least, int most);

/// "500M", "20G" (support/text/quantity.hpp).
[[nodiscard]] CLI::Validator size_text();

/// "30d", "12h" (support/text/quantity.hpp).
[[nodiscard]] CLI::Validator duration_text();
/// The same, and "0".
[[nodiscard]] CLI::Validator duration_or_zero();

}  // namespace edgegpu
