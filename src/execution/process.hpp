#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "execution/process_watch.hpp"

namespace edgegpu {

/// How a child process ended, with everything it printed.
struct ProcessResult {
    /// Exit status, or 128 + signal number.
    int status = 0;
    /// stdout and stderr, interleaved as they came; cut to the last 1 MiB.
    std::string output;
    /// Not `normally`: it was killed because it had reached a limit.
    Ended ended = Ended::normally;
    /// What it wrote to the pipe of ProcessRequest::announcement.
    std::string announced;
};

/// A program to run.
struct ProcessRequest {
    /// argv[0] is looked up in the PATH of `env`
    std::vector<std::string> argv;
    /// exactly its environment, "K=V"; empty: a minimal one with PATH, LC_ALL=C, TZ=UTC
    std::vector<std::string> env;
    /// For the log, where `argv` is that of a sandbox around the program: the program's own
    /// arguments, and the root it runs in. Empty: `argv`, in no root.
    std::vector<std::string> inner_argv;
    std::string inner_root;
    /// For the log: what it runs for, "package X: %post"; may be empty.
    std::string purpose;
    /// on its standard input
    std::string input;
    /// its working directory; empty: that of this process
    std::filesystem::path cwd;
    /// Become id 0 of this user namespace first, with all capabilities there, and own the program's
    /// output: in the build's namespace that is the image's root.
    bool as_root_of_namespace = false;
    /// Descriptors that it inherits besides the standard ones, with their numbers.
    std::vector<int> descriptors;
    /// -1, or a descriptor that gets its standard output; `ProcessResult::output` then has standard
    /// error alone.
    int standard_output = -1;
    /// Whatever they are, it never leaves a core dump.
    ProcessLimits limits;
    /// -1, or the pipe on which it announces the first process of its pid namespace (ProcessWatch):
    /// no process of that namespace is left when run_process returns or throws.
    int announcement = -1;
};

/// Runs the program and waits for it. No shell. Kills it with its process group and throws
/// ErrorKind::interrupted on cancellation; throws Error if it cannot be started. A non-zero status
/// is returned, not thrown. Its end and its whole output are logged.
[[nodiscard]] ProcessResult run_process(const Context& ctx, const ProcessRequest& request);

/// Runs `argv` (argv[0] looked up in PATH) with exactly the environment `env` ("K=V"; empty: a
/// minimal one with PATH, LC_ALL=C, TZ=UTC), `input` on its standard input, and waits. No shell.
/// Kills it and throws ErrorKind::interrupted on cancellation; throws Error if it
/// cannot be started. A non-zero status is returned, not thrown.
[[nodiscard]] ProcessResult run_process(const Context& ctx, const std::vector<std::string>& argv,
                                        const std::vector<std::string>& env = {},
                                        const std::string& input = {},
                                        const std::filesystem::path& cwd = {});

}  // namespace edgegpu
