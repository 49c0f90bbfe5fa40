#include "resolve/explain/pair.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resolve/gpu/nvidia.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

/// Visible versions of the driver of all branches, newest first.
std::vector<std::string> all_versions(const PackagePool& pool) {
    std::vector<std::string> versions;
    for (const char* name : {"nvidia-driver", "nvidia-driver-cuda", "nvidia-kmod-common"}) {
        for (const Id id : pool.named(name)) {
            const std::string version = pool.version(id);
            if (std::ranges::find(versions, version) == versions.end()) {
                versions.push_back(version);
            }
        }
    }
    return versions;
}

/// Versions of drivers with a module for this kernel.
std::vector<std::string> drivers_of(const PackagePool& pool, const NvidiaRequest& nvidia,
                                    Id kernel) {
    std::vector<std::string> found = all_versions(pool);
    std::erase_if(found, [&](const std::string& version) {
        const std::vector<DriverFlavor> flavors = flavors_of(nvidia, version);
        return std::ranges::all_of(flavors, [&](DriverFlavor flavor) {
            return kernel_modules(pool, flavor, version, kernel).empty();
        });
    });
    return found;
}

void say_nearest_kernel(const PackagePool& pool, const Blueprint& blueprint,
                        const std::string& kernel_name, Cause& cause) {
    std::vector<Id> kernels = pool.named(kernel_name + "-core");
    if (kernels.empty()) {
        kernels = pool.named(kernel_name);
    }
    for (const Id kernel : kernels) {
        for (const std::string& version : drivers_of(pool, *blueprint.nvidia, kernel)) {
            if (is_wanted_driver(version, *blueprint.nvidia)) {
                cause.lines.push_back(
                    fmt::format("  newest kernel with a module of it: {} (driver {})",
                                pool.nevra(kernel).text(), version));
                return;
            }
        }
    }
    cause.lines.push_back(fmt::format("  no {} has a module of it", kernel_name));
}

/// Adds packages of modules for the kernel (by their names) that are filtered out, in streams of
/// other branches.
void find_filtered(const PackagePool& pool, Id kernel, Cause& cause) {
    const Nevra nevra = pool.nevra(kernel);
    const std::string release = nevra.release.substr(0, nevra.release.rfind('.'));
    for (const Id id : pool.packages()) {
        const std::string name = pool.name(id);
        if (!pool.visible(id) && name.starts_with("kmod-nvidia") &&
            name.find(fmt::format("-{}-{}", nevra.version, release)) != std::string::npos) {
            cause.filtered.push_back(id);
        }
    }
    pool.sort_best_first(cause.filtered);
}

}  // namespace

Cause unpaired_cause(const Universe& universe, const Blueprint& blueprint,
                     const std::vector<Id>& kernels) {
    const PackagePool& pool = universe.pool();
    const NvidiaRequest& nvidia = *blueprint.nvidia;
    const Id newest = kernels.front();
    Cause cause;
    cause.message = kernels.size() == 1
                        ? fmt::format("kernel {} has no module of NVIDIA driver {}",
                                      pool.nevra(newest).text(), nvidia.driver)
                        : fmt::format("no kernel has a module of NVIDIA driver {}", nvidia.driver);
    Origin origin;
    origin.kind = Origin::Kind::kernel;
    origin.location = nvidia.location;
    origin.text = fmt::format("{} requests NVIDIA driver \"{}\" with kernel \"{}\"",
                              nvidia.location.text(), nvidia.driver, nvidia.kernel.text());
    cause.lines.push_back(origin.text);
    cause.origins.push_back(origin);
    if (blueprint.kernel.name != "kernel") {
        cause.lines.push_back(
            fmt::format("  {} is a variant of the kernel: NVIDIA's precompiled "
                        "modules are for the standard one only",
                        blueprint.kernel.name));
    }
    say_nearest_kernel(pool, blueprint, "kernel", cause);
    const std::vector<std::string> others = drivers_of(pool, nvidia, newest);
    if (!others.empty()) {
        cause.lines.push_back(fmt::format("  drivers with a module for {}: {}",
                                          pool.nevra(newest).text(), fmt::join(others, ", ")));
    }
    find_filtered(pool, newest, cause);
    return cause;
}

}  // namespace edgegpu
