#include <algorithm>
#include <map>

#include "gpu_health/judge/examination.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::string_view seat_card =
    "Switch the machine off, reseat the card and its power cables; replace it if that does not "
    "help";
constexpr std::string_view enlarge_mmio =
    "Enable 64-bit MMIO (above 4G decoding) in the firmware, or a larger MMIO window in the "
    "hypervisor";
constexpr std::string_view keep_others_away =
    "Keep other drivers away from the GPU: modprobe.blacklist=nouveau in kernel_arguments, no "
    "vfio-pci ids";

/// What is missing of the cards that the settings name, and of their number.
std::vector<std::string> missing_gpus(const Facts& facts, const Settings& settings) {
    std::multimap<std::string, const PciFunction*> present;
    for (const PciFunction* gpu : live_gpus_of(facts)) {
        present.emplace(lower_case(gpu->id), gpu);
    }
    const std::size_t count = present.size();
    std::vector<std::string> missing;
    for (const std::string& id : settings.devices) {
        const auto found = present.find(lower_case(id));
        if (found == present.end()) {
            missing.push_back(lower_case(id));
        } else {
            present.erase(found);
        }
    }
    if (missing.empty() && count < settings.minimum) {
        missing.push_back(std::to_string(settings.minimum - count) + " of " +
                          std::to_string(settings.minimum) + " GPUs");
    }
    return missing;
}

/// A GPU that is there and does not answer says more than that one is missing.
bool has_silent_gpu(const Facts& facts) {
    return std::ranges::any_of(facts.functions, [&](const PciFunction& function) {
        return !function.virtual_function && is_silent(facts, function);
    });
}

void judge_missing(Examination& examination) {
    const Facts& facts = examination.facts;
    const std::vector<std::string> missing = missing_gpus(facts, examination.settings);
    if (missing.empty()) {
        return;
    }
    const bool is_guest = facts.virtual_machine;
    Found& found = report(
        examination, Step::presence, is_guest ? Verdict::machine : Verdict::hardware, "gpu-missing",
        {}, listed(missing) + (missing.size() == 1 ? " is" : " are") + " not on the PCI bus",
        is_guest ? "Let the hypervisor pass the GPU through to this machine"
                 : std::string(seat_card));
    found.consequence = has_silent_gpu(facts);
    const bool excluded =
        std::ranges::any_of(facts.proc_gpus, [](const ProcGpu& gpu) { return gpu.excluded; });
    if (excluded) {
        found.finding.verdict = Verdict::machine;
        found.finding.fault = "gpu-excluded";
        found.finding.text += "; a GPU is excluded from the driver (NVreg_ExcludedGpus)";
        found.finding.action = "Do not exclude the GPU, or lower minimum";
    }
}

void judge_pass_through(Examination& examination, const PciFunction& gpu) {
    if (gpu.driver != "vfio-pci") {
        report(examination, Step::binding, Verdict::image, "vfio-not-bound", gpu.address,
               gpu.address + " is to be passed through and is bound to " +
                   (gpu.driver.empty() ? "no driver" : gpu.driver),
               "Give vfio-pci the card's id: vfio-pci.ids=" + gpu.id + " in kernel_arguments");
    }
}

void judge_driver_of(Examination& examination, const PciFunction& gpu) {
    const std::string bound = gpu.address + " is bound to " + gpu.driver;
    if (gpu.driver == "nvidia") {
        return;
    }
    if (gpu.driver.empty()) {
        Found& found =
            report(examination, Step::binding, Verdict::unclear, "no-driver-bound", gpu.address,
                   gpu.address + " is bound to no driver", "Look at the steps after this one");
        found.consequence = true;
        if (!gpu.driver_override.empty() && gpu.driver_override != "nvidia") {
            found.consequence = false;
            found.finding.verdict = Verdict::machine;
            found.finding.fault = "driver-override";
            found.finding.text += "; driver_override is " + gpu.driver_override;
            found.finding.action =
                "Remove the override of this machine: driverctl unset-override " + gpu.address;
        }
        return;
    }
    if (!gpu.driver_override.empty() && gpu.driver_override != "nvidia") {
        report(examination, Step::binding, Verdict::machine, "driver-override", gpu.address,
               bound + ", as this machine's driver_override says",
               "Remove the override of this machine: driverctl unset-override " + gpu.address);
    } else if (gpu.driver == "nouveau") {
        report(examination, Step::binding, Verdict::image, "nouveau-bound", gpu.address, bound,
               std::string(keep_others_away));
    } else if (gpu.driver == "nova_core" || gpu.driver == "nova-core" || gpu.driver == "NovaCore") {
        report(examination, Step::binding, Verdict::image, "nova-bound", gpu.address, bound,
               std::string(keep_others_away));
    } else if (gpu.driver == "vfio-pci") {
        report(examination, Step::binding, Verdict::image, "vfio-bound", gpu.address, bound,
               std::string(keep_others_away));
    } else {
        report(examination, Step::binding, Verdict::image, "other-driver-bound", gpu.address, bound,
               std::string(keep_others_away));
    }
}

}  // namespace

void judge_presence(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::presence)) {
        return;
    }
    for (const PciFunction* gpu : gpus_of(facts)) {
        if (is_silent(facts, *gpu)) {
            report(examination, Step::presence, Verdict::hardware, "gpu-silent", gpu->address,
                   gpu->address + " does not answer: its configuration space reads as ones",
                   std::string(seat_card));
            continue;
        }
        // BAR 5 has I/O ports, which no driver of a computing GPU needs.
        const bool memory_missing =
            std::ranges::any_of(gpu->unassigned_bars, [](int bar) { return bar >= 0 && bar < 5; });
        if (memory_missing) {
            report(examination, Step::presence, Verdict::machine, "bar-space", gpu->address,
                   "the firmware gave " + gpu->address + " no room for BAR " +
                       std::to_string(gpu->unassigned_bars.front()),
                   std::string(enlarge_mmio));
        }
    }
    judge_missing(examination);
}

void judge_binding(Examination& examination) {
    if (!is_known(examination.facts, Step::binding)) {
        return;
    }
    for (const PciFunction* gpu : live_gpus_of(examination.facts)) {
        if (examination.settings.passthrough) {
            judge_pass_through(examination, *gpu);
        } else {
            judge_driver_of(examination, *gpu);
        }
    }
}

}  // namespace edgegpu::gpu_health
