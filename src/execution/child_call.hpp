#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace edgegpu {

/// What a call in a child process may use.
struct ChildLimits {
    /// of address space, in bytes, more than this process has
    std::uint64_t memory = 0;
    /// of the processor
    std::chrono::seconds time{0};
};

/// How a call in a child process ended.
struct ChildCall {
    enum class End {
        returned,
        /// it threw an Error
        refused,
        /// it ran out of memory or time
        exhausted,
        /// it crashed, or the process was killed
        crashed
    };
    End end = End::crashed;
    /// What it returned, or the message of the Error.
    std::string result;
    /// the hint of the Error
    std::string hint;
};

/// Calls `call` in a copy of this process, within limits, and waits for it: for libraries that
/// cannot be told how much memory or time they may take for an untrusted file. The copy has the
/// rights of this process: limits contain accidents, not code that takes over the process. Nothing
/// `call` does has an effect here except what it returns (at most `limits.memory` bytes). It may
/// allocate memory, but must not take locks that other threads hold (no console, no log). Throws
/// Error if the process cannot be created.
[[nodiscard]] ChildCall call_in_child(const ChildLimits& limits,
                                      const std::function<std::string()>& call);

}  // namespace edgegpu
