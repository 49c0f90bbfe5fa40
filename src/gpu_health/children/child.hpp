#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "gpu_health/facts.hpp"

namespace edgegpu::gpu_health {

/// How a child ended, and what it wrote.
struct ChildResult {
    ChildEnd end = ChildEnd::not_run;
    /// exit status; of `crashed` the signal's number
    int status = 0;
    /// standard output and standard error, each at most a MiB; of a function 16 MiB
    std::string output;
    std::string errors;
    double milliseconds = 0;
};

/// Runs a program with a deadline. One that does not end in time is killed with its process group,
/// and left behind if that does not end it (uninterruptible sleep in the driver): this returns at
/// most half a second after the deadline, whatever the child does. `missing`: there is no such
/// program, or it cannot be executed.
[[nodiscard]] ChildResult run_program(const std::vector<std::string>& argv,
                                      std::chrono::milliseconds deadline);

/// The same for a function in a forked process: `output` is what it returned; an exception ends it
/// with status 1 and its text in `errors`.
[[nodiscard]] ChildResult run_function(const std::function<std::string()>& function,
                                       std::chrono::milliseconds deadline);

}  // namespace edgegpu::gpu_health
