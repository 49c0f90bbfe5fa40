#pragma once

#include <filesystem>

#include "gpu_health/facts.hpp"
#include "gpu_health/settings.hpp"

namespace edgegpu::gpu_health {

/// Where the machine is looked at: tests and machines with a GPU point these at other trees.
struct Places {
    std::filesystem::path root = "/";
    std::filesystem::path sys = "/sys";
    std::filesystem::path proc = "/proc";
    std::filesystem::path dev = "/dev";
    /// read without waiting; a regular file with lines of the same form is as good
    std::filesystem::path kmsg = "/dev/kmsg";
};

/// What belongs to no step: commit, boot, kernel, gpu-stack.json.
void observe_machine(const Places& places, Facts& facts);

/// Looks at what a step is about and fills in its members; earlier steps have filled in theirs.
/// Steps that need NVIDIA's programs (nvml, condition, workload) are not done here: nothing is
/// changed. Throws std::runtime_error only for what keeps the whole step from being known (sysfs is
/// not mounted); a file that cannot be read is a fact.
void observe(Step step, const Places& places, const Settings& settings, Facts& facts);

}  // namespace edgegpu::gpu_health
