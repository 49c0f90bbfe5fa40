#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/context.hpp"

namespace edgegpu {

/// How a child process ended, with everything it printed.
struct ProcessResult {
    /// Exit status, or 128 + signal number.
    int status = 0;
    /// stdout and stderr, interleaved as they came; cut to the last 1 MiB.
    std::string output;
};

/// Runs `argv` (argv[0] looked up in PATH) with exactly the environment `env` ("K=V"; empty: a
/// minimal one with PATH, LC_ALL=C, TZ=UTC), `input` on its standard input, and waits. No shell.
/// Kills it and throws ErrorKind::interrupted on cancellation; throws Error if it
/// cannot be started. A non-zero status is returned, not thrown.
[[nodiscard]] ProcessResult run_process(const Context& ctx, const std::vector<std::string>& argv,
                                        const std::vector<std::string>& env = {},
                                        const std::string& input = {},
                                        const std::filesystem::path& cwd = {});

}  // namespace edgegpu
