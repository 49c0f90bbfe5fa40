#include "kmods/gpu_stack.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "kmods/module_file.hpp"
#include "support/files/file.hpp"
#include "support/text/kernel_module_name.hpp"

namespace edgegpu {

namespace {

/// "open" or "proprietary", by the module's licence: NVIDIA's own is "NVIDIA", that of the open
/// ones "Dual MIT/GPL".
std::string flavor_of(const ModuleInfo& info) {
    const std::string license = info.value("license");
    return license.empty() ? "" : license == "NVIDIA" ? "proprietary" : "open";
}

void read_modules(const Tree& tree, gpu_health::Stack& stack) {
    const std::string directory = fmt::format("/usr/lib/modules/{}/", tree.kernel);
    for (const auto& [path, entry] : entries_below(tree.entries, directory)) {
        const std::string name = module_of_file(path);
        if (entry.type != EntryType::file || path.starts_with(directory + "kernel/") ||
            (name != "nvidia" && !name.starts_with("nvidia_"))) {
            continue;
        }
        const ModuleInfo info = read_module(unpack_module(read_file(entry.content), path), path);
        gpu_health::StackModule module{name, path, info.value("version"), "", ""};
        if (info.signature) {
            module.key_id = info.signature->key_id;
            module.signer = info.signature->signer;
        }
        if (name == "nvidia") {
            stack.flavor = flavor_of(info);
        }
        stack.modules.push_back(std::move(module));
    }
    std::ranges::sort(stack.modules, {}, &gpu_health::StackModule::name);
}

/// The files themselves, not links to them.
void read_files(const Tree& tree, gpu_health::Stack& stack) {
    const auto collect = [&](const std::string& prefix, std::vector<std::string>& paths) {
        for (const auto& [path, entry] : entries_with_prefix(tree.entries, prefix)) {
            if (entry.type == EntryType::file) {
                paths.push_back(path);
            }
        }
    };
    collect(fmt::format("/usr/lib/firmware/nvidia/{}/", stack.driver), stack.firmware);
    // A library of 32 bits in /usr/lib is of no use to gpu-health.
    for (const char* const library : {"libcuda.so.", "libnvidia-ml.so."}) {
        collect(fmt::format("/usr/lib64/{}", library), stack.libraries);
    }
}

bool is_gpu_package(std::string_view name) {
    static constexpr std::array<std::string_view, 4> beginnings{"nvidia-", "libnvidia-",
                                                                "kmod-nvidia-", "cuda-drivers"};
    return std::ranges::any_of(beginnings,
                               [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

gpu_health::Stack gpu_stack_of(const std::string& driver_version, const Tree& tree) {
    gpu_health::Stack stack;
    stack.driver = driver_version;
    stack.kernel = tree.kernel;
    read_modules(tree, stack);
    read_files(tree, stack);
    for (const Nevra& package : tree.packages) {
        if (is_gpu_package(package.name)) {
            stack.packages.push_back(package.text());
        }
    }
    std::ranges::sort(stack.packages);
    return stack;
}

void add_gpu_stack(const Context& ctx, const std::string& driver_version, Tree& tree) {
    if (driver_version.empty()) {
        return;
    }
    put_entry(tree, gpu_stack_path,
              make_file_entry(ctx, stack_json(gpu_stack_of(driver_version, tree)), 0644));
}

}  // namespace edgegpu
