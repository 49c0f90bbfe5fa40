#pragma once

#include <chrono>

#include "gpu_health/ask/ask.hpp"

/// vectorAdd in containers; ask.hpp describes them.
namespace edgegpu::gpu_health {

using Deadline = std::chrono::steady_clock::time_point;

/// What is left until then; never negative.
[[nodiscard]] std::chrono::milliseconds left_until(Deadline deadline);

/// The part of the time that is kept for removing a container: a quarter, at most 10 seconds.
[[nodiscard]] std::chrono::milliseconds kept_for_removal(Deadline deadline);

/// Copies gpu-probe to where a container may read it, whatever SELinux says of the original.
/// Returns the copy's path. Throws std::runtime_error.
[[nodiscard]] std::filesystem::path copy_probe(const Probe& probe);

[[nodiscard]] Workload run_in_podman(const Probe& probe, const Settings& settings,
                                     Deadline deadline);

/// By crictl, in a pod with the node's network, which needs no CNI plugin. Old CRI-O (1.23) knows
/// CDI devices by the annotation cdi.k8s.io/NAME alone, and new ones still take it.
[[nodiscard]] Workload run_in_crio(const Probe& probe, const Settings& settings, Deadline deadline);

}  // namespace edgegpu::gpu_health
