#pragma once

#include <vector>

#include "execution/process_watch.hpp"

namespace edgegpu {

/// What a forked child becomes, prepared before fork(2): afterwards no memory can be allocated.
struct ChildSetup {
    /// path, argv and environment as execve(2) takes them
    const char* program = nullptr;
    char* const* argv = nullptr;
    char* const* envp = nullptr;
    /// null: that of the caller
    const char* cwd = nullptr;
    /// ProcessRequest::as_root_of_namespace
    bool as_root = false;
    /// those that the program keeps besides the standard ones
    const std::vector<int>* descriptors = nullptr;
    const ProcessLimits* limits = nullptr;
    int input = -1;
    /// stderr, and stdout unless there is `standard_output`
    int output = -1;
    /// ProcessRequest::standard_output
    int standard_output = -1;
    /// gets errno, an int, where the program cannot be started
    int failure = -1;
};

/// Runs the program in place of the caller, with ids, limits, signals and descriptors of its own.
/// For the time between fork and exec of a process that may have other threads: it only makes calls
/// that are async-signal-safe.
[[noreturn]] void become_program(const ChildSetup& setup) noexcept;

}  // namespace edgegpu
