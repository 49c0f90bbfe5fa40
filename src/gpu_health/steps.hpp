#pragma once

#include <array>
#include <string_view>

/// gpu-health: a program for devices, which decides whether a fault of a GPU is the image's.
/// docs/gpu-health.md describes it. Nothing here includes other components but support/text.
namespace edgegpu::gpu_health {

/// What is looked at, in the order in which it separates best: up to `library` nothing of NVIDIA's
/// runs, so that nothing can hang in the driver.
enum class Step {
    presence,    ///< PCI functions in sysfs
    binding,     ///< the kernel driver that each is bound to
    module,      ///< the module's file: vermagic, signature, this machine's keys
    version,     ///< what is loaded, against gpu-stack.json
    firmware,    ///< files of the GPU's own processor
    kernel_log,  ///< what the driver said in this boot
    nodes,       ///< /dev/nvidia*: numbers, modes, labels
    library,     ///< libnvidia-ml and libcuda
    nvml,        ///< NVIDIA's management library, in a child
    condition,   ///< recovery action, ECC, remapped rows, MIG, link: of what NVML says
    cdi,         ///< the specification for containers, and every path in it
    workload     ///< vectorAdd on the GPU
};

inline constexpr std::array all_steps{
    Step::presence, Step::binding, Step::module, Step::version,   Step::firmware, Step::kernel_log,
    Step::nodes,    Step::library, Step::nvml,   Step::condition, Step::cdi,      Step::workload};

constexpr std::string_view name_of(Step step) {
    constexpr std::array<std::string_view, all_steps.size()> names{
        "presence", "binding", "module", "version",   "firmware", "kernel-log",
        "nodes",    "library", "nvml",   "condition", "cdi",      "workload"};
    return names.at(static_cast<std::size_t>(step));
}

/// Seconds that a step has if the settings do not say otherwise.
constexpr unsigned default_deadline(Step step) {
    switch (step) {
        case Step::nvml:
            return 45;
        case Step::workload:
            return 60;
        case Step::cdi:
        case Step::module:
            return 10;
        default:
            return 5;
    }
}

}  // namespace edgegpu::gpu_health
