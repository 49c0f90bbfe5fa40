#include "image/kernel_arguments.hpp"

#include <algorithm>
#include <string_view>

#include "support/text.hpp"

namespace edgegpu {

namespace {

/// The value of option `name` at `call[index]`, given as "--name=value" or in the next word.
std::string option_value(const std::vector<std::string>& call, std::size_t index,
                         std::string_view name) {
    const std::string& word = call[index];
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
        return word.substr(name.size() + 1);
    }
    return word == name && index + 1 < call.size() ? call[index + 1] : std::string();
}

/// Removes arguments that are equal to a word, or have it as their name.
void remove_arguments(const std::vector<std::string_view>& unwanted,
                      std::vector<std::string>& arguments) {
    for (const std::string_view word : unwanted) {
        std::erase_if(arguments, [&](const std::string& argument) {
            return argument == word || (argument.starts_with(word) && argument[word.size()] == '=');
        });
    }
}

}  // namespace

void add_kernel_arguments(const std::vector<std::string>& more,
                          std::vector<std::string>& arguments) {
    for (const std::string& argument : more) {
        if (std::find(arguments.begin(), arguments.end(), argument) == arguments.end()) {
            arguments.push_back(argument);
        }
    }
}

void apply_grubby_call(const std::vector<std::string>& call, std::vector<std::string>& arguments) {
    for (std::size_t i = 1; i < call.size(); ++i) {
        const std::string unwanted = option_value(call, i, "--remove-args");
        remove_arguments(words_of(unwanted), arguments);
    }
    for (std::size_t i = 1; i < call.size(); ++i) {
        const std::string more = option_value(call, i, "--args");
        const std::vector<std::string_view> words = words_of(more);
        add_kernel_arguments({words.begin(), words.end()}, arguments);
    }
}

}  // namespace edgegpu
