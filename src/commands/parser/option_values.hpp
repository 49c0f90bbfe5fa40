#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace edgegpu {

/// Checks of the values of options. None adds a description of its own to the help.

/// One of the words of "a|b".
[[nodiscard]] CLI::Validator one_of(const std::string& words);

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

/// Adds an option, or an argument of a name without dashes, whose value is a `kind` in the help:
/// "FILE", or "a|b" of words.
template <typename Target>
CLI::Option* add_value(CLI::App& verb, const char* name, Target& target, const std::string& kind,
                       const std::string& text) {
    return verb.add_option(name, target, text)->type_name(kind);
}

/// The same, with a value that is not empty.
template <typename Target>
CLI::Option* add_nonempty(CLI::App& verb, const char* name, Target& target, const std::string& kind,
                          const std::string& text) {
    return add_value(verb, name, target, kind, text)->check(not_empty());
}

/// The same, with a size.
template <typename Target>
CLI::Option* add_size(CLI::App& verb, const char* name, Target& target, const std::string& text) {
    return add_value(verb, name, target, "SIZE", text)->check(size_text());
}

/// The same, with one of the words of "a|b".
template <typename Target>
CLI::Option* add_choice(CLI::App& verb, const char* name, Target& target, const std::string& words,
                        const std::string& text) {
    return add_value(verb, name, target, words, text)->check(one_of(words));
}

/// The same, and the target gets the value of the word.
template <typename Target>
CLI::Option* add_choice(CLI::App& verb, const char* name, Target& target,
                        const std::vector<std::pair<std::string, Target>>& values,
                        const std::string& text) {
    std::string words;
    for (const auto& [word, value] : values) {
        words += (words.empty() ? "" : "|") + word;
    }
    const auto take = [&target, values](const std::string& word) {
        target = std::ranges::find(values, word, &std::pair<std::string, Target>::first)->second;
    };
    return verb.add_option_function<std::string>(name, take, text)
        ->check(one_of(words))
        ->type_name(words);
}

}  // namespace edgegpu
