#pragma once

#include "support/console.hpp"

namespace edgegpu {

/// Parses the command line and runs the verb. Returns the exit status (0, 77); throws Error for
/// everything else, ErrorKind::usage for a wrong command line. `color` is set to what the command
/// line asks for as soon as that is known, for whoever shows the error.
int run_command_line(int argc, char** argv, Color& color);

}  // namespace edgegpu
