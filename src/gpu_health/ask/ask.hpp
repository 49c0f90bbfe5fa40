#pragma once

#include <filesystem>
#include <string>

#include "gpu_health/facts.hpp"
#include "gpu_health/settings.hpp"

namespace edgegpu::gpu_health {

/// The program that loads NVIDIA's libraries, beside this one: /usr/libexec/edgegpu/gpu-probe.
/// Nothing: there is none.
struct Probe {
    std::filesystem::path path;
};

/// NVML, by gpu-probe, within the deadline of Step::nvml.
[[nodiscard]] Nvml ask_nvml(const Probe& probe, const Settings& settings);

/// vectorAdd in one of the three ways ("direct", "podman", "crio"), within the deadline of
/// Step::workload.
[[nodiscard]] Workload run_workload(const std::string& how, const Probe& probe,
                                    const Settings& settings, const Facts& facts);

}  // namespace edgegpu::gpu_health
