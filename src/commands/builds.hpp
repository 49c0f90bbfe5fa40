#pragma once

#include <string>
#include <string_view>

#include "commands/commands.hpp"

namespace edgegpu {

/// Builds several blueprints that share a cache, `jobs` at a time, each in a process of its own,
/// and prints one result for each. One that fails does not stop the others; what Ctrl-C reaches,
/// ends. Throws before any begins where the blueprints do not go together (variants.hpp). Returns
/// the exit status (builds_report.hpp).
int run_builds(const GlobalOptions& global, const BuildCommand& command);

/// A line of a build's progress with the build's name in it, as `--progress-fd` gives it on; empty
/// for one that is not given on (its beginning) and for what is no line of progress.
[[nodiscard]] std::string named_event(std::string_view line, const std::string& name);

}  // namespace edgegpu
