#include <algorithm>
#include <map>

#include "gpu_health/judge/examination.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::string_view compare_commits =
    "Compare with the commit before; if it fails in the same way, the card is to be examined";

/// A code of NVML as a finding; codes that are gpu-health's own fault are notes.
void report_code(Examination& examination, int code, const std::string& device,
                 const std::string& where) {
    const auto row = examination.tables.nvml.find(code);
    const std::string fault = "nvml-" + std::to_string(code);
    const std::string text =
        "NVML gives " + std::to_string(code) + (where.empty() ? "" : " for " + where) +
        (row == examination.tables.nvml.end() ? "" : ": " + row->second.meaning);
    const std::string action = row == examination.tables.nvml.end() ? "" : row->second.action;
    const std::optional<Verdict> verdict = row == examination.tables.nvml.end()
                                               ? Verdict::unclear
                                               : verdict_of_word(row->second.verdict);
    if (verdict) {
        report(examination, Step::nvml, *verdict, fault, device, text, action);
    } else {
        report_note(examination, Step::nvml, fault, device, text, action);
    }
}

void judge_list(Examination& examination) {
    const Facts& facts = examination.facts;
    for (const NvmlGpu& gpu : facts.nvml.gpus) {
        if (gpu.code != 0) {
            report_code(examination, gpu.code, normal_address(gpu.address), gpu.address);
        }
    }
    for (const PciFunction* gpu : live_gpus_of(facts)) {
        const bool is_listed = std::ranges::any_of(facts.nvml.gpus, [&](const NvmlGpu& one) {
            return normal_address(one.address) == normal_address(gpu->address);
        });
        if (!is_listed) {
            Found& found =
                report(examination, Step::nvml, Verdict::unclear, "gpu-not-listed", gpu->address,
                       "NVML does not list " + gpu->address, std::string(compare_commits));
            found.consequence = true;
        }
    }
    const std::string& version = facts.nvml.driver_version;
    const std::string wanted = wanted_version(facts);
    if (!version.empty() && !wanted.empty() && version != wanted) {
        report(examination, Step::nvml, Verdict::image, "version-mismatch", {},
               "NVML says the driver is " + version + ", the image's is " + wanted,
               "Build the image with one version of modules and libraries");
    }
}

void judge_memory_errors(Examination& examination, const NvmlGpu& gpu, const std::string& at) {
    // Azure's limit for errors of a card's whole life: azurehpc's node health checks.
    constexpr std::uint64_t lifetime_limit = 20000000;
    const auto add = [&](const std::string& fault, const std::string& text,
                         const std::string& action) {
        report(examination, Step::condition, Verdict::hardware, fault, at, at + text, action);
    };
    if (gpu.remap_failed.value_or(false)) {
        add("row-remap-failed", ": remapping of a memory row failed", "Replace the card");
    } else if (gpu.remap_pending.value_or(false)) {
        add("row-remap-pending", ": a memory row waits for being remapped",
            "Drain the node, then nvidia-smi --gpu-reset or restart the machine");
    }
    if (gpu.uncorrected_volatile.value_or(0) > 0) {
        add("ecc-uncorrected",
            ": " + std::to_string(*gpu.uncorrected_volatile) +
                " uncorrected memory errors since the driver was loaded",
            "Drain the node and reset the GPU; replace the card if they come back");
    } else if (gpu.uncorrected_aggregate.value_or(0) > lifetime_limit) {
        add("ecc-uncorrected",
            ": " + std::to_string(*gpu.uncorrected_aggregate) + " uncorrected memory errors in all",
            "Replace the card");
    }
}

void judge_recovery(Examination& examination, const NvmlGpu& gpu, const std::string& at) {
    const int action = gpu.recovery_action.value_or(0);
    if (action == 0) {
        return;
    }
    static const std::map<int, std::string> words{
        {1, "a reset of the GPU: nvidia-smi --gpu-reset"},
        {2, "a restart of the machine"},
        {3, "draining: stop all work on this GPU and its NVLink peers"},
        {4, "draining, then a reset of the GPU"}};
    const auto word = words.find(action);
    report(examination, Step::condition, Verdict::hardware,
           "recovery-action-" + std::to_string(action), at,
           at + ": NVIDIA's driver asks for " +
               (word == words.end() ? "recovery action " + std::to_string(action) : word->second),
           "Do what the driver asks for; replace the card if it asks again");
}

/// Whether a MIG device is of a profile: "MIG 1g.10gb" or a longer name that has it as a word.
bool is_of_profile(std::string_view device, std::string_view profile) {
    const std::vector<std::string_view> words = words_of(device, " \t,:()");
    return std::ranges::find(words, profile) != words.end();
}

void judge_mig(Examination& examination, const NvmlGpu& gpu, const PciFunction* function,
               const std::string& at) {
    const Settings& settings = examination.settings;
    if (settings.mig && gpu.mig && *settings.mig != *gpu.mig) {
        report(examination, Step::condition, Verdict::unclear, "mig-mode", at,
               at + ": MIG mode is " + (*gpu.mig ? "on" : "off") + ", it should be " +
                   (*settings.mig ? "on" : "off"),
               "Look at the unit that sets MIG; some cards need a reset for it");
    }
    const std::string id = function == nullptr ? "" : lower_case(function->id);
    const WantedMig* wanted = nullptr;
    for (const WantedMig& layout : settings.mig_layouts) {
        if (lower_case(layout.device) == id || (layout.device.empty() && wanted == nullptr)) {
            wanted = &layout;
        }
    }
    if (wanted == nullptr) {
        return;
    }
    std::vector<std::string> left = gpu.mig_devices;
    std::vector<std::string> missing;
    for (const std::string& profile : wanted->profiles) {
        const auto found = std::ranges::find_if(
            left, [&](const std::string& device) { return is_of_profile(device, profile); });
        if (found == left.end()) {
            missing.push_back(profile);
        } else {
            left.erase(found);
        }
    }
    if (!missing.empty() || !left.empty()) {
        report(examination, Step::condition, Verdict::unclear, "mig-layout", at,
               at + ": its MIG devices are not those of the blueprint" +
                   (missing.empty() ? "" : ", missing: " + listed(missing)) +
                   (left.empty() ? "" : ", not asked for: " + listed(left)),
               "Look at the unit that sets MIG; it cannot change devices that are in use");
    }
}

void judge_requirements(Examination& examination, const NvmlGpu& gpu, const std::string& at) {
    const Settings& settings = examination.settings;
    if (settings.memory > 0 && gpu.memory && *gpu.memory < settings.memory) {
        report(examination, Step::condition, Verdict::hardware, "memory-too-small", at,
               at + " has " + std::to_string(*gpu.memory) + " bytes of memory, " +
                   std::to_string(settings.memory) + " are required",
               "Compare with the card's data sheet: a part of its memory may be retired");
    }
    if (settings.persistence && gpu.persistence && *settings.persistence != *gpu.persistence) {
        report(examination, Step::condition, Verdict::image, "persistence-mode", at,
               at + ": persistence mode is " + (*gpu.persistence ? "on" : "off"),
               "Look at the unit nvidia-persistenced");
    }
    if (!gpu.licence.empty() && !gpu.licence.starts_with("Licensed")) {
        Found& found = report_note(examination, Step::condition, "vgpu-licence", at,
                                   at + ": the vGPU's licence state is " + gpu.licence,
                                   "Look at the licence server and at nvidia-gridd (journalctl -u "
                                   "nvidia-gridd -u edgegpu-vgpu-token)");
        found.finding.verdict = Verdict::machine;
    }
}

void judge_link(Examination& examination, const PciFunction& gpu) {
    const Settings& settings = examination.settings;
    if (settings.link_width > 0 && gpu.link_width > 0 && gpu.link_width < settings.link_width) {
        report(examination, Step::condition, Verdict::hardware, "link-width", gpu.address,
               gpu.address + " has " + std::to_string(gpu.link_width) + " PCIe lanes, " +
                   std::to_string(settings.link_width) + " are required",
               "Reseat the card, or use a slot with more lanes");
    }
    if (settings.link_generation > 0 && gpu.max_link_generation > 0 &&
        gpu.max_link_generation < settings.link_generation) {
        report(examination, Step::condition, Verdict::machine, "link-speed", gpu.address,
               gpu.address + " can have PCIe generation " +
                   std::to_string(gpu.max_link_generation) + ", " +
                   std::to_string(settings.link_generation) + " is required",
               "Look at the slot and at the firmware's PCIe settings");
    }
}

}  // namespace

void judge_nvml(Examination& examination) {
    const Facts& facts = examination.facts;
    const auto run = facts.runs.find(std::string(name_of(Step::nvml)));
    if (run == facts.runs.end()) {
        return;
    }
    const Nvml& nvml = facts.nvml;
    if (nvml.end == ChildEnd::hung || run->second.hung) {
        report(examination, Step::nvml, Verdict::unclear, "nvml-hung", {},
               "NVML did not answer within " +
                   std::to_string(examination.settings.deadline(Step::nvml)) + " seconds",
               std::string(compare_commits));
    } else if (nvml.end == ChildEnd::crashed) {
        report(examination, Step::nvml, Verdict::unclear, "nvml-crashed", {},
               "the process that asks NVML crashed: " + nvml.text, std::string(compare_commits));
    } else if (nvml.end == ChildEnd::missing) {
        report_note(examination, Step::nvml, "probe-missing", {},
                    "gpu-probe cannot be run: NVML was not asked", "Build the image anew");
    } else if (is_known(facts, Step::nvml) && nvml.end == ChildEnd::ended) {
        if (nvml.code != 0) {
            report_code(examination, nvml.code, {}, nvml.function);
        } else {
            judge_list(examination);
        }
    }
}

void judge_condition(Examination& examination) {
    const Facts& facts = examination.facts;
    if (!is_known(facts, Step::condition)) {
        return;
    }
    for (const PciFunction* gpu : live_gpus_of(facts)) {
        judge_link(examination, *gpu);
    }
    if (facts.nvml.end != ChildEnd::ended || facts.nvml.code != 0) {
        return;
    }
    const std::vector<const PciFunction*> functions = live_gpus_of(facts);
    for (const NvmlGpu& gpu : facts.nvml.gpus) {
        const std::string at = normal_address(gpu.address);
        const auto function = std::ranges::find_if(
            functions, [&](const PciFunction* one) { return normal_address(one->address) == at; });
        judge_recovery(examination, gpu, at);
        judge_memory_errors(examination, gpu, at);
        if (gpu.code == 0) {
            judge_mig(examination, gpu, function == functions.end() ? nullptr : *function, at);
            judge_requirements(examination, gpu, at);
        }
    }
}

}  // namespace edgegpu::gpu_health
