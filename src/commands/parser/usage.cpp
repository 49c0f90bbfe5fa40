#include "commands/parser/usage.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "support/ranges.hpp"

namespace edgegpu {

namespace {

OptionInfo describe_option(const CLI::Option& option) {
    OptionInfo info;
    info.positional = option.get_positional();
    if (info.positional) {
        info.names = {option.get_name()};
    }
    for (const std::string& name : option.get_snames()) {
        info.names.push_back('-' + name);
    }
    for (const std::string& name : option.get_lnames()) {
        info.names.push_back("--" + name);
    }
    info.value = option.get_items_expected_max() == 0 ? "" : option.get_type_name();
    info.description = option.get_description();
    info.required = option.get_required();
    info.repeated = info.positional && option.get_items_expected_max() > 1;
    return info;
}

/// The options that are allowed here, for a "did you mean".
std::vector<std::string> known_options(const Interface& interface, const std::string& verb) {
    std::vector<std::string> names;
    const auto add = [&](const std::vector<OptionInfo>& options) {
        for (const OptionInfo& option : options) {
            if (!option.positional) {
                names.insert(names.end(), option.names.begin(), option.names.end());
            }
        }
    };
    add(interface.options);
    for (const CommandInfo& command : interface.commands) {
        if (command.name == verb) {
            add(command.options);
        }
    }
    return names;
}

std::string did_you_mean(const std::string& wanted, const std::vector<std::string>& known,
                         const std::string& otherwise) {
    const std::vector<std::string> near = nearest_names(wanted, known);
    return near.empty() ? otherwise : fmt::format("did you mean \"{}\"?", near.front());
}

}  // namespace

Interface describe_interface(const CLI::App& app) {
    Interface interface;
    interface.description = app.get_description();
    for (const CLI::Option* option : app.get_options()) {
        interface.options.push_back(describe_option(*option));
    }
    for (const CLI::App* verb : app.get_subcommands({})) {
        CommandInfo command{verb->get_name(), verb->get_description(), {}};
        for (const CLI::Option* option : verb->get_options()) {
            if (option != verb->get_help_ptr()) {
                command.options.push_back(describe_option(*option));
            }
        }
        interface.commands.push_back(std::move(command));
    }
    return interface;
}

Error no_command(const Interface& interface, const std::vector<std::string>& rest) {
    const std::vector<std::string> names = mapped(interface.commands, &CommandInfo::name);
    const std::string list = fmt::format("one of {}; see edgegpu --help", fmt::join(names, ", "));
    if (rest.empty()) {
        return Error(ErrorKind::usage, "no command").hinted(list);
    }
    if (rest.front().starts_with('-')) {
        return error(ErrorKind::usage, "unknown option \"{}\"", rest.front())
            .hinted(did_you_mean(rest.front(), known_options(interface, ""), list));
    }
    return error(ErrorKind::usage, "unknown command \"{}\"", rest.front())
        .hinted(did_you_mean(rest.front(), names, list));
}

Error usage_error(const CLI::App& app, const CLI::ParseError& failure) {
    const Interface interface = describe_interface(app);
    const std::vector<std::string> rest = app.remaining(true);
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) {
        const bool extras =
            failure.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
        return extras ? no_command(interface, rest)
                      : Error(ErrorKind::usage, failure.what()).hinted("see edgegpu --help");
    }
    const std::string verb = chosen.front()->get_name();
    const std::string help = fmt::format("see edgegpu {} --help", verb);
    const auto option = std::ranges::find_if(rest, [](const std::string& argument) {
        return argument.size() > 1 && argument.starts_with('-');
    });
    if (option != rest.end()) {
        const std::string name = option->substr(0, option->find('='));
        return error(ErrorKind::usage, "unknown option \"{}\" of edgegpu {}", name, verb)
            .hinted(did_you_mean(name, known_options(interface, verb), help));
    }
    if (failure.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !rest.empty()) {
        return error(ErrorKind::usage, "unexpected argument \"{}\" of edgegpu {}", rest.front(),
                     verb)
            .hinted(help);
    }
    return error(ErrorKind::usage, "edgegpu {}: {}", verb, failure.what()).hinted(help);
}

}  // namespace edgegpu
