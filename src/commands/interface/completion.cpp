#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "commands/interface/interface.hpp"
#include "embedded_completion.hpp"
#include "support/ranges.hpp"
#include "support/text/shell_text.hpp"

namespace edgegpu {

namespace {

std::string names_of(const std::vector<CommandInfo>& commands, std::string_view separator) {
    return fmt::format("{}", fmt::join(mapped(commands, &CommandInfo::name), separator));
}

std::vector<OptionInfo> with_global(const Interface& interface, const CommandInfo& command) {
    std::vector<OptionInfo> all = command.options;
    all.insert(all.end(), interface.options.begin(), interface.options.end());
    return all;
}

std::string flags_of(const std::vector<OptionInfo>& options) {
    std::vector<std::string> names;
    for (const OptionInfo& option : options) {
        if (!option.positional) {
            names.insert(names.end(), option.names.begin(), option.names.end());
        }
    }
    return fmt::format("{}", fmt::join(names, " "));
}

std::string choices_of(const std::string& value) {
    std::string words = value;
    std::ranges::replace(words, '|', ' ');
    return words;
}

/// A kind of value has a name in capitals, a list of choices is in lower case.
bool is_choice(const std::string& value) {
    return !value.empty() && value.front() >= 'a' && value.front() <= 'z';
}

/// KEY → WORDS as an associative array of bash, global even if the script is read in a function.
std::string bash_array(const std::string& name, const std::map<std::string, std::string>& words) {
    std::string text = fmt::format("declare -gA {}=(\n", name);
    for (const auto& [key, value] : words) {
        text += fmt::format("    [{}]={}\n", key, shell_word(value));
    }
    return text + ")\n";
}

/// The data of the command line, and the program that completes it (completion.bash).
std::string bash_script(const Interface& interface) {
    std::map<std::string, std::string> values;  // option → its value, over all commands
    std::map<std::string, std::string> flags{{"edgegpu", flags_of(interface.options)}};
    std::map<std::string, std::string> arguments;
    const auto remember = [&](const std::vector<OptionInfo>& options) {
        for (const OptionInfo& option : options) {
            for (const std::string& name : option.names) {
                if (!option.positional && !option.value.empty()) {
                    values[name] = option.value;
                }
            }
        }
    };
    remember(interface.options);
    for (const CommandInfo& command : interface.commands) {
        remember(command.options);
        flags[command.name] = flags_of(with_global(interface, command));
        for (const OptionInfo& option : command.options) {
            if (option.positional) {
                arguments.try_emplace(command.name, option.value);
            }
        }
    }
    return fmt::format(
        "# bash completion of edgegpu; made by \"edgegpu completion bash\"\n"
        "_edgegpu_commands={}\n{}{}{}{}",
        shell_word(names_of(interface.commands, " ")), bash_array("_edgegpu_values", values),
        bash_array("_edgegpu_flags", flags), bash_array("_edgegpu_arguments", arguments),
        embedded::completion_bash);
}

/// Text inside an option's specification of zsh.
std::string zsh_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '[' || c == ']' || c == ':' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

std::string zsh_values(const std::string& value) {
    if (value == "DIR") {
        return "_files -/";
    }
    if (value == "FILE") {
        return "_files";
    }
    if (value == "BLUEPRINT") {
        return "_files -g \"*.toml\"";
    }
    if (value == "COMMIT") {
        return "_edgegpu_there commits";
    }
    if (value == "ID|NAME") {
        return "_edgegpu_there gpus";
    }
    if (value == "NAME|DIR") {
        return "_edgegpu_bundle";
    }
    if (value == "LOCK|REF") {
        return "_edgegpu_lock_or_ref";
    }
    if (value == "COMMAND") {
        return "_edgegpu_command";
    }
    return is_choice(value) ? fmt::format("({})", choices_of(value)) : " ";
}

/// What `_arguments` takes: a specification of each option, and of each argument.
std::vector<std::string> zsh_specifications(const std::vector<OptionInfo>& options) {
    std::vector<std::string> found;
    unsigned position = 0;
    for (const OptionInfo& option : options) {
        if (option.positional) {
            found.push_back(fmt::format("{}{}:{}:{}",
                                        option.repeated ? "*" : std::to_string(++position),
                                        option.required || option.repeated ? "" : ":",
                                        zsh_text(option.names.front()), zsh_values(option.value)));
            continue;
        }
        for (const std::string& name : option.names) {
            const std::string value =
                option.value.empty()
                    ? ""
                    : fmt::format(":{}:{}", zsh_text(option.value), zsh_values(option.value));
            found.push_back(fmt::format("{}[{}]{}", name, zsh_text(option.description), value));
        }
    }
    return found;
}

/// WORDS as an array of zsh that outlives the function whose body the script is.
std::string zsh_array(const std::string& name, const std::vector<std::string>& words) {
    std::string text = fmt::format("typeset -ga {}=(\n", name);
    for (const std::string& word : words) {
        text += fmt::format("    {}\n", shell_word(word));
    }
    return text + ")\n";
}

/// The data of the command line, and the program that completes it (completion.zsh).
std::string zsh_script(const Interface& interface) {
    std::vector<std::string> commands;
    std::string arguments;
    for (const CommandInfo& command : interface.commands) {
        commands.push_back(fmt::format("{}:{}", command.name, zsh_text(command.description)));
        arguments += zsh_array("_edgegpu_arguments_" + command.name,
                               zsh_specifications(with_global(interface, command)));
    }
    return fmt::format(
        "#compdef edgegpu\n"
        "# zsh completion of edgegpu; made by \"edgegpu completion zsh\"\n"
        "{}{}{}{}",
        zsh_array("_edgegpu_commands", commands),
        zsh_array("_edgegpu_options", zsh_specifications(interface.options)), arguments,
        embedded::completion_zsh);
}

std::string fish_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '\'' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result;
}

/// `commands`: the names of all commands, which are the words of a COMMAND.
std::string fish_values(const std::string& value, const std::string& commands) {
    if (value.empty()) {
        return "";
    }
    if (value == "DIR") {
        return " -x -a '(__fish_complete_directories)'";
    }
    if (value == "FILE") {
        return " -r -F";
    }
    if (value == "BLUEPRINT") {
        return " -x -a '(__fish_complete_suffix .toml)'";
    }
    if (value == "COMMIT") {
        return " -x -a '(__edgegpu_there commits)'";
    }
    if (value == "ID|NAME") {
        return " -x -a '(__edgegpu_there gpus)'";
    }
    if (value == "NAME|DIR") {
        return " -x -a '(__edgegpu_there bundles) (__fish_complete_directories)'";
    }
    if (value == "LOCK|REF") {
        return " -r -F -a '(__edgegpu_there commits)'";
    }
    if (value == "COMMAND") {
        return fmt::format(" -x -a '{}'", commands);
    }
    return is_choice(value) ? fmt::format(" -x -a '{}'", choices_of(value)) : " -x";
}

std::string fish_options(const std::vector<OptionInfo>& options, const std::string& condition,
                         const std::string& commands) {
    std::string text;
    for (const OptionInfo& option : options) {
        text += "complete -c edgegpu" + condition;
        for (const std::string& name : option.names) {
            if (!option.positional) {
                text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
            }
        }
        text += fish_values(option.value, commands);
        text += option.positional ? "\n" : fmt::format(" -d '{}'\n", fish_text(option.description));
    }
    return text;
}

/// The constant part (completion.fish), and a declaration for each command and option.
std::string fish_script(const Interface& interface) {
    std::string text = "# fish completion of edgegpu; made by \"edgegpu completion fish\"\n";
    text += embedded::completion_fish;
    const std::string commands = names_of(interface.commands, " ");
    for (const CommandInfo& command : interface.commands) {
        text += fmt::format(
            "complete -c edgegpu -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n", commands,
            command.name, fish_text(command.description));
    }
    text += fish_options(interface.options, "", commands);
    for (const CommandInfo& command : interface.commands) {
        text += fish_options(command.options,
                             fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name),
                             commands);
    }
    return text;
}

}  // namespace

std::string completion_script(const Interface& interface, const std::string& shell) {
    if (shell == "zsh") {
        return zsh_script(interface);
    }
    return shell == "fish" ? fish_script(interface) : bash_script(interface);
}

}  // namespace edgegpu
