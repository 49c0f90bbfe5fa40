#pragma once

#include <string>
#include <vector>

#include "commands/interface/interface.hpp"
#include "support/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace edgegpu {

/// The parser's commands and options as values.
[[nodiscard]] Interface describe_interface(const CLI::App& app);

/// The error for a command line without a known command; `rest` is what the parser did not
/// understand.
[[nodiscard]] Error no_command(const Interface& interface, const std::vector<std::string>& rest);

/// The parser's error, in the program's own words and with a hint.
[[nodiscard]] Error usage_error(const CLI::App& app, const CLI::ParseError& failure);

}  // namespace edgegpu
