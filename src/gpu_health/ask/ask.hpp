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
    /// for what containers need, until the next boot
    std::filesystem::path work = "/run/edgegpu/workload";
};

/// NVML, by gpu-probe, within the deadline of Step::nvml.
[[nodiscard]] Nvml ask_nvml(const Probe& probe, const Settings& settings);

/// vectorAdd in one of the three ways ("direct", "podman", "crio"), within the deadline of
/// Step::workload. Containers get the CDI device nvidia.com/gpu=all, no network and no privileges;
/// their image is settings.workload_image, which must be on the device (nothing is pulled) and have
/// glibc; podman without one takes the device's own /usr. They are removed, whatever happens.
/// `status` is that of gpu-probe (probe/lines.hpp), podman or crictl: 0 passed, 1 a function
/// failed, 3 a wrong result, 4 no library.
[[nodiscard]] Workload run_workload(const std::string& how, const Probe& probe,
                                    const Settings& settings, const Facts& facts);

}  // namespace edgegpu::gpu_health
