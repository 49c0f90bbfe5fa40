#include "gpu_health/ask/ask.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "gpu_health/ask/containers.hpp"
#include "gpu_health/ask/probe_output.hpp"
#include "gpu_health/children/child.hpp"

namespace edgegpu::gpu_health {

namespace {

Workload run_by(const std::string& how, const Probe& probe, const Settings& settings) {
    const std::chrono::seconds time(settings.deadline(Step::workload));
    const Deadline deadline = std::chrono::steady_clock::now() + time;
    if (how == "podman") {
        return run_in_podman(probe, settings, deadline);
    }
    if (how == "crio") {
        return run_in_crio(probe, settings, deadline);
    }
    if (how != "direct") {
        throw std::runtime_error("there is no such way to run it");
    }
    return read_workload(run_program({probe.path.string(), "workload"}, time), how);
}

/// CUDA_ERROR_NO_DEVICE has a cause that its text does not name.
void add_mig_to_text(const Facts& facts, Workload& workload) {
    constexpr int no_device = 100;
    const bool empty = std::ranges::any_of(facts.nvml.gpus, [](const NvmlGpu& gpu) {
        return gpu.mig == true && gpu.mig_devices.empty();
    });
    if (workload.code == no_device && empty) {
        workload.text += "; MIG is on, and a GPU has no MIG devices";
    }
}

}  // namespace

Nvml ask_nvml(const Probe& probe, const Settings& settings) {
    return read_nvml(run_program({probe.path.string(), "nvml"},
                                 std::chrono::seconds(settings.deadline(Step::nvml))));
}

Workload run_workload(const std::string& how, const Probe& probe, const Settings& settings,
                      const Facts& facts) {
    Workload workload;
    try {
        workload = run_by(how, probe, settings);
    } catch (const std::exception& error) {
        workload.how = how;
        workload.text = short_text(error.what());
    }
    add_mig_to_text(facts, workload);
    return workload;
}

}  // namespace edgegpu::gpu_health
