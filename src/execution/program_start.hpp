#pragma once

#include <sys/types.h>

#include "execution/process.hpp"

namespace edgegpu {

/// Starts the program of `request` with the descriptor `input` as its standard input, and with
/// `output` as standard error and, unless the request has another, standard output. Returns its
/// process, which leads a process group of its own, is killed when the calling thread ends, and is
/// the caller's to kill and to reap. Of the limits, only those that the kernel enforces are set.
/// Throws Error if the program is not there or cannot be started; then no process is left.
[[nodiscard]] pid_t start_process(const ProcessRequest& request, int input, int output);

}  // namespace edgegpu
