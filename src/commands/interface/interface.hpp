#pragma once

#include <string>
#include <vector>

namespace edgegpu {

/// One option or positional argument of a command.
struct OptionInfo {
    /// "-q", "--quiet"; for a positional its name alone.
    std::vector<std::string> names;
    /// What the value is: "DIR", "FILE", "N", a list "auto|always|never"; empty for a flag.
    std::string value;
    std::string description;
    bool positional = false;
    /// positionals: must not be omitted
    bool required = false;
    bool repeated = false;
};

/// One command, "build".
struct CommandInfo {
    std::string name;
    std::string description;
    std::vector<OptionInfo> options;
};

/// The whole command line as plain values, taken from the parser itself: completion scripts and
/// the manual page are generated from it, so that they cannot differ from what is parsed.
struct Interface {
    std::string description;
    std::vector<OptionInfo> options;
    std::vector<CommandInfo> commands;
};

/// A completion script for `shell`: "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(const Interface& interface, const std::string& shell);

/// The manual page edgegpu(1), in man(7)'s macros.
[[nodiscard]] std::string manual_page(const Interface& interface);

}  // namespace edgegpu
