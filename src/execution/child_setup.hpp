#pragma once

#include <vector>

#include <sys/types.h>

#include "execution/process_watch.hpp"

namespace edgegpu {

/// What a child becomes, prepared before it is started: afterwards no memory can be allocated.
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

/// Starts the program in a child process, with ids, limits, signals and descriptors of its own, and
/// returns the child's number, or -1 with errno. The child shares the caller's memory until it
/// executes the program, as after vfork(2): nothing is copied, neither now nor when other threads
/// write to their memory. Only the calling thread waits for that. Safe in any thread.
[[nodiscard]] pid_t start_program(const ChildSetup& setup) noexcept;

}  // namespace edgegpu
