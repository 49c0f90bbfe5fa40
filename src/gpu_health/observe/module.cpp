#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu_health/observe/elf_module.hpp"
#include "gpu_health/observe/modprobe.hpp"
#include "gpu_health/observe/steps.hpp"
#include "gpu_health/observe/tree.hpp"
#include "gpu_health/observe/unpack.hpp"
#include "support/text/kernel_module_name.hpp"
#include "support/text/text.hpp"

namespace edgegpu::gpu_health {

namespace {

constexpr std::size_t largest_index = std::size_t{64} << 20U;

/// Paths of the modules that modprobe knows, in the order of modules.dep.
std::vector<std::string> known_modules(const Places& places, const std::string& directory) {
    std::vector<std::string> paths;
    const Reading index = read_file(places.root, directory + "/modules.dep", largest_index);
    for (const std::string_view line : lines_of(index.content)) {
        const std::string_view path = line.substr(0, line.find(':'));
        if (path.size() < line.size() && !path.empty()) {
            paths.push_back(path.starts_with('/') ? std::string(path)
                                                  : directory + "/" + std::string(path));
        }
    }
    return paths;
}

/// "/…/nvidia-drm.ko.xz" → "nvidia-drm"
std::string_view module_of(std::string_view path) {
    const std::string_view file = path.substr(path.find_last_of('/') + 1);
    return file.substr(0, file.find(".ko"));
}

/// A module that comes with the kernel, not from a package of its own.
bool is_kernels_own(const std::string& path, const std::string& directory) {
    return path.starts_with(directory + "/kernel/");
}

ModuleText read_packed_module(const Places& places, const std::string& path) {
    Reading reading = read_file(places.root, path, largest_module);
    if (!reading.good()) {
        throw std::runtime_error(reading.why());
    }
    return read_elf_module(unpack(std::move(reading.content)));
}

/// vermagic of the first that can be read; looks at few.
std::string vermagic_of_kernel(const Places& places, const std::vector<std::string>& paths,
                               const std::string& directory) {
    int tries = 5;
    for (const std::string& path : paths) {
        if (!is_kernels_own(path, directory) || module_of(path).starts_with("nvidia")) {
            continue;
        }
        try {
            return read_packed_module(places, path).value("vermagic");
        } catch (const std::runtime_error&) {
            if (--tries == 0) {
                break;
            }
        }
    }
    return {};
}

/// By its licence: "Dual MIT/GPL" or "NVIDIA" (kernel-open and the kernel directory of the driver).
std::string flavor_of(const std::string& licence) {
    if (licence.find("GPL") != std::string::npos) {
        return "open";
    }
    return licence == "NVIDIA" ? "proprietary" : "";
}

void read_into(const Places& places, ModuleFile& file) {
    file.exists = is_there(places.root, file.path);
    try {
        const ModuleText text = read_packed_module(places, file.path);
        file.vermagic = text.value("vermagic");
        file.version = text.value("version");
        file.flavor = flavor_of(text.value("license"));
        file.is_signed = text.is_signed;
        file.key_id = text.key_id;
        file.signer = text.signer;
    } catch (const std::runtime_error& error) {
        file.error = error.what();
    }
}

/// What udev asks kmod for where it finds the GPUs.
std::vector<std::string> aliases_of(const Places& places,
                                    const std::vector<PciFunction>& functions) {
    std::vector<std::string> aliases;
    for (const PciFunction& function : functions) {
        std::string alias =
            read_line(places.sys, "bus/pci/devices/" + function.address + "/modalias");
        if (!alias.empty()) {
            aliases.push_back(std::move(alias));
        }
    }
    return aliases;
}

}  // namespace

void observe_module(const Places& places, Facts& facts) {
    ModuleFile file;
    // The first is where images have them; a tree may lack the link from the second.
    std::string directory = "/usr/lib/modules/" + facts.kernel;
    if (!is_there(places.root, directory)) {
        directory = "/lib/modules/" + facts.kernel;
    }
    const std::vector<std::string> paths = known_modules(places, directory);
    for (const std::string& path : paths) {
        if (module_of(path) == "nvidia") {
            file.path = path;
            break;
        }
    }
    if (!file.path.empty()) {
        read_into(places, file);
        file.kernel_vermagic = vermagic_of_kernel(places, paths, directory);
    }
    WantedModule wanted{"nvidia", directory, {}, aliases_of(places, facts.functions)};
    for (const std::string& path : paths) {
        wanted.known.insert(kernel_module_name(module_of(path)));
    }
    for (const std::string& what : what_blocks(places, wanted)) {
        file.blocked = true;
        file.blocked_by += (file.blocked_by.empty() ? "" : "; ") + what;
    }
    facts.module = file;
}

}  // namespace edgegpu::gpu_health
