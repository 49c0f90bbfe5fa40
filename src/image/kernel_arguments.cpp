#include "image/kernel_arguments.hpp"

#include <algorithm>
#include <string_view>

namespace edgegpu {

namespace {

constexpr std::string_view blanks = " \t\n";

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    while (true) {
        const std::size_t begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos) {
            return words;
        }
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(blanks), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

/// The value of option `name` at `call[index]`, given as "--name=value" or in the next word.
std::string option_value(const std::vector<std::string>& call, std::size_t index,
                         std::string_view name) {
    const std::string& word = call[index];
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=') {
        return word.substr(name.size() + 1);
    }
    return word == name && index + 1 < call.size() ? call[index + 1] : std::string();
}

void remove_arguments(const std::vector<std::string>& unwanted,
                      std::vector<std::string>& arguments) {
    for (const std::string& word : unwanted) {
        std::erase_if(arguments, [&](const std::string& argument) {
            return argument == word || argument.starts_with(word + "=");
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
        remove_arguments(split_words(option_value(call, i, "--remove-args")), arguments);
    }
    for (std::size_t i = 1; i < call.size(); ++i) {
        add_kernel_arguments(split_words(option_value(call, i, "--args")), arguments);
    }
}

}  // namespace edgegpu
