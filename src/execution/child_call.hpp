#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "execution/context.hpp"

namespace edgegpu {

/// What a call in a child process may use.
struct ChildLimits {
    /// of address space, in bytes, more than the child has when it begins
    std::uint64_t memory = 0;
    /// of the processor
    std::chrono::seconds time{0};
    /// of the clock
    std::chrono::seconds elapsed{0};
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
    /// what it wrote to its standard error
    std::string messages;
};

/// A function of the input that may be called in a child process. Objects of this class are
/// constants of namespaces: a child finds them by their names.
class ChildFunction {
public:
    /// `name` lives as long as the object; the second argument of `call` is for its messages.
    using Call = std::string (*)(const std::string& input, const std::string& called);
    ChildFunction(const char* name, Call call) noexcept;
    ChildFunction(const ChildFunction&) = delete;
    ChildFunction& operator=(const ChildFunction&) = delete;

    [[nodiscard]] const char* name() const noexcept { return name_; }

private:
    friend void serve_child_call(int argc, char** argv);

    const char* name_;
    Call call_;
    const ChildFunction* next_;
};

/// If this process was started by `call_in_child`, makes the call and ends it. To be called by
/// main() before anything else.
void serve_child_call(int argc, char** argv);

/// Calls `function` in a child process, within limits, and waits for it: for libraries that cannot
/// be told how much memory or time they may take for an untrusted file. The child is this program
/// again, executed anew: it has no memory, no threads and no locks of this process. It has its
/// rights: limits contain accidents, not code that takes over the process. The result has at most
/// `limits.memory` bytes. `descriptors` are open in the child as well, with the same numbers.
/// Throws ErrorKind::interrupted on cancellation, which ends the child, and
/// Error if it cannot be started.
[[nodiscard]] ChildCall call_in_child(const Context& ctx, const ChildFunction& function,
                                      std::string input, const std::string& called,
                                      const ChildLimits& limits,
                                      const std::vector<int>& descriptors = {});

}  // namespace edgegpu
