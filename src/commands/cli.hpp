#pragma once

#include "commands/failure.hpp"

namespace edgegpu {

/// Parses the command line and runs the verb. Returns the exit status (0, 77; of `check` also 2);
/// throws Error for everything else, ErrorKind::usage for a wrong command line. `running` is set to
/// what the command line asks for as soon as that is known, for whoever reports the error.
int run_command_line(int argc, char** argv, RunningCommand& running);

}  // namespace edgegpu
