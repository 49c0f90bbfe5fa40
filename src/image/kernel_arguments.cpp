#include "image/kernel_arguments.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "support/text/boot_arguments.hpp"
#include "support/text/terminal_text.hpp"
#include "support/text/text.hpp"

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

constexpr std::size_t longest_line = 2047;
/// Of BOOT_IMAGE, root, rw, ostree, and init or rd.luks.name and rd.luks.options, with the
/// checksums in their paths.
constexpr std::size_t of_boot_entry = 640;

/// As Linux splits a command line (next_arg of lib/cmdline.c).
bool is_one_argument(std::string_view argument) {
    bool quoted = false;
    for (const char c : argument) {
        quoted = quoted != (c == '"');
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte == 0x7f || (c == ' ' && !quoted)) {
            return false;
        }
    }
    return !quoted && !argument.empty() && argument.front() != '=';
}

/// The first character that GRUB takes for one of its own language where it reads the line of a
/// boot entry (`options` with blscfg, `linux` in what ostree generates), which has the argument as
/// it is: a variable, another command, a comment. 0 if there is none.
char boot_loader_character(std::string_view argument) {
    bool quoted = false;
    for (std::size_t i = 0; i < argument.size(); ++i) {
        const char c = argument[i];
        quoted = quoted != (c == '"');
        const bool special =
            c == '$' || (!quoted && (std::string_view(";&|<>").find(c) != std::string_view::npos ||
                                     (c == '#' && i == 0)));
        if (special) {
            return c;
        }
    }
    return argument == "{" || argument == "}" ? argument.front() : '\0';
}

}  // namespace

std::string kernel_arguments_problem(const std::vector<std::string>& arguments) {
    constexpr std::size_t shown = 100;
    std::size_t size = 0;
    for (const std::string& argument : arguments) {
        const std::string begin = clip(argument, shown);
        if (!is_one_argument(argument)) {
            return fmt::format("\"{}\" is not one kernel argument", begin);
        }
        if (const std::string_view reason = boot_argument_reason(argument); !reason.empty()) {
            return fmt::format("the kernel argument \"{}\" cannot be set: {}", begin, reason);
        }
        if (const char c = boot_loader_character(argument); c != '\0') {
            return fmt::format(
                "the kernel argument \"{}\" cannot be set: GRUB takes {} for a part of its own "
                "language",
                begin, c);
        }
        size += argument.size() + 1;
    }
    if (size > longest_line - of_boot_entry) {
        return fmt::format(
            "kernel arguments of {} bytes are too long: Linux reads {}, and the boot entry adds {}",
            size, longest_line, of_boot_entry);
    }
    return {};
}

void add_kernel_arguments(const std::vector<std::string>& more,
                          std::vector<std::string>& arguments) {
    for (const std::string& argument : more) {
        if (std::ranges::find(arguments, argument) == arguments.end()) {
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
