#include <string>
#include <string_view>

#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "support/text/number.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

/// /proc/driver/nvidia/gpus/ADDRESS/information: lines "Model: \t\t NVIDIA H200".
ProcGpu read_information(const std::string& address, std::string_view text) {
    ProcGpu gpu;
    gpu.address = address;
    for (const std::string_view line : lines_of(text)) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) {
            continue;
        }
        const std::string_view name = trim(line.substr(0, colon));
        const std::string_view value = trim(line.substr(colon + 1));
        if (name == "Model") {
            gpu.model = value;
        } else if (name == "Device Minor") {
            gpu.minor = whole_number<int>(value).value_or(-1);
        } else if (name == "GPU Firmware") {
            gpu.firmware = value;
        } else if (name == "GPU Excluded") {
            gpu.excluded = value == "Yes";
        }
    }
    return gpu;
}

}  // namespace

void observe_binding(const Places& places, Facts& facts) {
    facts.driver.rivals.clear();
    facts.driver.companions.clear();
    for (const std::string& name : names_in(places.sys, "module")) {
        if (name == "nouveau" || name == "nova_core" || name == "nova_drm") {
            facts.driver.rivals.push_back(name);
        } else if (name.starts_with("nvidia_")) {
            facts.driver.companions.push_back(name);
        }
    }
}

void observe_version(const Places& places, Facts& facts) {
    facts.driver.loaded = is_there(places.sys, "module/nvidia");
    facts.driver.version = read_line(places.sys, "module/nvidia/version");
    facts.driver.nvrm.clear();
    const Reading version = read_start(places.proc, "driver/nvidia/version", small_file);
    for (const std::string_view line : lines_of(version.content)) {
        if (line.starts_with("NVRM")) {
            facts.driver.nvrm = trim(line);
            break;
        }
    }
    facts.proc_gpus.clear();
    for (const std::string& address : names_in(places.proc, "driver/nvidia/gpus")) {
        const Reading information =
            read_start(places.proc, "driver/nvidia/gpus/" + address + "/information", small_file);
        facts.proc_gpus.push_back(read_information(address, information.content));
    }
}

}  // namespace edgegpu::gpu_health
