#include "gpu_health/judge/examination.hpp"
#include "support/ranges.hpp"
#include "support/text/terminal_text.hpp"

namespace edgegpu::gpu_health {

namespace {

std::string presence_line(const Facts& facts) {
    const std::vector<std::string> gpus = mapped(
        facts.functions, [](const PciFunction& gpu) { return gpu.id + " at " + gpu.address; });
    return counted(gpus.size(), "GPU") + (gpus.empty() ? "" : " (" + listed(gpus) + ")");
}

std::string binding_line(const Facts& facts) {
    const std::vector<std::string> words = mapped(facts.functions, [](const PciFunction& gpu) {
        return gpu.address + " to " + (gpu.driver.empty() ? "no driver" : gpu.driver);
    });
    return words.empty() ? "no GPU" : listed(words);
}

std::string module_line(const ModuleFile& module) {
    if (module.path.empty()) {
        return "no module nvidia";
    }
    return module.path + (module.version.empty() ? "" : ", version " + module.version) +
           (module.flavor.empty() ? "" : ", " + module.flavor) +
           (module.is_signed
                ? ", signed by " + (module.signer.empty() ? module.key_id : module.signer)
                : ", not signed");
}

std::string version_line(const Facts& facts) {
    const std::string loaded =
        facts.driver.loaded ? facts.driver.version + " is loaded" : "no driver is loaded";
    return loaded + (facts.stack ? ", the image has " +
                                       (facts.stack->driver.empty() ? "none" : facts.stack->driver)
                                 : "");
}

std::string firmware_line(const Facts& facts) {
    const std::vector<std::string> paths =
        mapped_if(facts.firmware, &FirmwareFile::exists, &FirmwareFile::path);
    return paths.empty() ? "no file" : listed(paths);
}

std::string nodes_line(const Facts& facts) {
    const std::vector<std::string> paths =
        mapped_if(facts.nodes, &DeviceNode::exists, &DeviceNode::path);
    return paths.empty() ? "no device node" : listed(paths);
}

std::string library_line(const Facts& facts) {
    const std::vector<std::string> words = mapped(facts.libraries, [](const Library& library) {
        return library.name +
               (library.path.empty()
                    ? " is not there"
                    : " " + (library.version.empty() ? library.path : library.version));
    });
    return words.empty() ? "none was looked for" : listed(words);
}

std::string nvml_line(const Nvml& nvml) {
    switch (nvml.end) {
        case ChildEnd::not_run:
            return "not asked" + (nvml.text.empty() ? "" : ": " + nvml.text);
        case ChildEnd::missing:
            return "gpu-probe is not there";
        case ChildEnd::hung:
            return "no answer";
        case ChildEnd::crashed:
            return "crashed";
        case ChildEnd::ended:
            break;
    }
    if (nvml.code != 0) {
        return nvml.function + " gives " + std::to_string(nvml.code);
    }
    const std::vector<std::string> names = mapped(
        nvml.gpus, [](const NvmlGpu& gpu) { return gpu.name.empty() ? gpu.address : gpu.name; });
    return counted(names.size(), "GPU") + (names.empty() ? "" : " (" + listed(names) + ")") +
           (nvml.driver_version.empty() ? "" : ", driver " + nvml.driver_version);
}

std::string condition_line(const Facts& facts) {
    std::vector<std::string> words;
    for (const NvmlGpu& gpu : facts.nvml.gpus) {
        std::string text = gpu.address + ": recovery action " +
                           (gpu.recovery_action ? std::to_string(*gpu.recovery_action) : "unknown");
        if (gpu.uncorrected_volatile) {
            text += ", " + std::to_string(*gpu.uncorrected_volatile) + " uncorrected errors";
        }
        if (gpu.mig && *gpu.mig) {
            text += ", " + counted(gpu.mig_devices.size(), "MIG device");
        }
        words.push_back(text);
    }
    return words.empty() ? "nothing is known of a GPU" : listed(words);
}

std::string cdi_line(const Cdi& cdi) {
    std::vector<std::string> words = mapped(cdi.specs, [](const CdiSpec& spec) {
        return spec.path + " (" + counted(spec.devices.size(), "device") + ")";
    });
    for (const std::string& hook : cdi.hooks) {
        words.push_back("hook " + hook);
    }
    if (!words.empty()) {
        return listed(words);
    }
    return cdi.toolkit ? "no specification" : "no container toolkit";
}

std::string workload_line(const Facts& facts) {
    const std::vector<std::string> words = mapped(facts.workloads, [](const Workload& workload) {
        return workload.how + ": " + (workload.end == ChildEnd::hung ? "no end" : workload.text);
    });
    return words.empty() ? "none is asked for" : listed(words);
}

std::string seen_in(Step step, const Facts& facts) {
    switch (step) {
        case Step::presence:
            return presence_line(facts);
        case Step::binding:
            return binding_line(facts);
        case Step::module:
            return module_line(facts.module);
        case Step::version:
            return version_line(facts);
        case Step::firmware:
            return firmware_line(facts);
        case Step::kernel_log:
            return counted(facts.kernel_log.size(), "message") + " about GPUs or modules";
        case Step::nodes:
            return nodes_line(facts);
        case Step::library:
            return library_line(facts);
        case Step::nvml:
            return nvml_line(facts.nvml);
        case Step::condition:
            return condition_line(facts);
        case Step::cdi:
            return cdi_line(facts.cdi);
        case Step::workload:
            return workload_line(facts);
    }
    return {};
}

}  // namespace

std::string line_of(Step step, const Facts& facts, const Settings& settings,
                    const std::vector<Finding>& found) {
    const StepRun& run = facts.runs.at(std::string(name_of(step)));
    std::string text;
    if (run.hung) {
        text = "no end within " + std::to_string(settings.deadline(step)) + " s";
    } else if (!run.error.empty()) {
        text = "not known: " + run.error;
    } else {
        text = seen_in(step, facts);
    }
    std::size_t count = 0;
    constexpr std::size_t most = 3;
    for (const Finding& finding : found) {
        if (finding.step == step && !finding.note && ++count <= most) {
            text += "; " + std::string(name_of(finding.verdict)) + ": " + finding.text;
        }
    }
    if (count > most) {
        text += "; " + std::to_string(count - most) + " more";
    }
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < ' ' || byte == 0x7f ? ' ' : c;
    }
    return std::string(name_of(step)) + ": " + line;
}

}  // namespace edgegpu::gpu_health
