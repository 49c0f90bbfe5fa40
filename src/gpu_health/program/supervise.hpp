#pragma once

#include <chrono>
#include <functional>

namespace edgegpu::gpu_health {

/// Runs `work` in a child and returns its exit status. Whatever becomes of that child, a crash, a
/// write that never ends, SIGTERM, SIGINT or SIGHUP to this process, the result is `fault`, with a
/// line on standard error, at most a second after the deadline: a fault of gpu-health is not one
/// of the image. The child and its children do not outlive this process, unless they hang in the
/// kernel.
[[nodiscard]] int supervise(const std::function<int()>& work, std::chrono::seconds deadline,
                            int fault);

}  // namespace edgegpu::gpu_health
