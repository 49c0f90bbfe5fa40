#pragma once

namespace edgegpu {

/// Parses the command line and runs the verb. Returns the exit status (0, 77); throws Error for
/// everything else. Usage errors of the command line itself are printed and return 2.
int run_command_line(int argc, char** argv);

}  // namespace edgegpu
