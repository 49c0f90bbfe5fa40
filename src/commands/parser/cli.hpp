#pragma once

#include "commands/failure.hpp"

namespace edgegpu {

/// Parses the command line and runs the command. Returns the exit status (0, 77; for `check` also
/// 2); throws Error for everything else, ErrorKind::usage for a wrong command line. `running` is
/// set as soon as it is known, for the report of an error.
int run_command_line(int argc, char** argv, RunningCommand& running);

}  // namespace edgegpu
