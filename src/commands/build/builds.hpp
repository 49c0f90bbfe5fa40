#pragma once

#include <string>
#include <string_view>

#include "commands/commands.hpp"

namespace edgegpu {

/// Builds several blueprints that share a cache, `jobs` at a time, each in a process of its own,
/// and prints one result for each. One that fails does not stop the others; Ctrl-C stops them all.
/// Throws before any begins if the blueprints cannot be built together (variants.hpp). Returns the
/// exit status (builds_report.hpp).
int run_builds(const GlobalOptions& global, const BuildCommand& command);

/// A line of a build's progress with the build's name added, as `--progress-fd` passes it on; empty
/// for a line that is not passed on (its beginning) and for what is not a line of progress.
[[nodiscard]] std::string named_event(std::string_view line, const std::string& name);

}  // namespace edgegpu
