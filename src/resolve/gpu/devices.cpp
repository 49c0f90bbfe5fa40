#include "resolve/gpu/devices.hpp"

#include <charconv>

#include <fmt/format.h>

#include "support/error.hpp"

namespace edgegpu {

namespace {

Error refusal(const NvidiaRequest& request, const std::string& message, const std::string& hint) {
    Error failure(ErrorKind::unsolvable, message);
    failure.traced(fmt::format("[nvidia] at {}", request.location.text()));
    failure.hinted(hint);
    return failure;
}

void check_branch(const NvidiaRequest& request, const Gpu& gpu, unsigned branch) {
    if (branch == 0) {
        return;
    }
    if (gpu.last_branch != 0 && branch > gpu.last_branch) {
        throw refusal(request,
                      fmt::format("NVIDIA driver {} does not support {}: its last branch is {}",
                                  branch, gpu.text(), gpu.last_branch),
                      fmt::format("set driver = \"{}\", or remove {} from devices", gpu.last_branch,
                                  gpu.id()));
    }
    if (gpu.first_branch != 0 && branch < gpu.first_branch) {
        throw refusal(
            request,
            fmt::format("NVIDIA driver {} does not support {}: its first branch is {}", branch,
                        gpu.text(), gpu.first_branch),
            fmt::format("set driver = \"{}\"{}, or remove {} from devices", gpu.first_branch,
                        gpu.last_branch == 0 ? " or a later branch" : "", gpu.id()));
    }
}

void check_flavor(const NvidiaRequest& request, const Gpu& gpu) {
    const bool open_only = gpu.modules == GpuModules::open;
    if (request.flavor == DriverFlavor::proprietary && open_only) {
        throw refusal(request,
                      fmt::format("{} needs the open kernel modules: the proprietary ones of "
                                  "driver {} do not support it",
                                  gpu.text(), request.driver),
                      "set flavor = \"open\" or \"auto\" in [nvidia]");
    }
    if (request.flavor == DriverFlavor::open && gpu.modules == GpuModules::proprietary) {
        throw refusal(request,
                      fmt::format("{} needs the proprietary kernel modules: the open ones of "
                                  "driver {} do not support it",
                                  gpu.text(), request.driver),
                      "set flavor = \"proprietary\" or \"auto\" in [nvidia]");
    }
}

std::string unknown(const std::string& device, const GpuTable& table, const std::string& driver) {
    return fmt::format(
        "{} is not in the list of GPUs of driver {}: check in the supported products of driver {} "
        "that it is supported",
        device, table.driver, driver);
}

}  // namespace

unsigned branch_of(const std::string& driver) {
    unsigned branch = 0;
    std::from_chars(driver.data(), driver.data() + driver.size(), branch);
    return branch;
}

DeviceVerdict check_devices(const NvidiaRequest& request, const GpuTable& table,
                            const std::string& driver, bool own) {
    DeviceVerdict verdict;
    verdict.flavor = request.flavor;
    const Gpu* open_only = nullptr;
    const Gpu* proprietary_only = nullptr;
    for (const std::string& device : request.devices) {
        const Gpu* gpu = table.find(device);
        if (gpu == nullptr && own) {
            throw refusal(
                request, fmt::format("NVIDIA driver {} does not support device {}", driver, device),
                fmt::format("a newer branch may: edgegpu gpus {}; or remove it from devices",
                            device));
        }
        if (gpu == nullptr) {
            verdict.warnings.push_back(unknown(device, table, driver));
            continue;
        }
        check_branch(request, *gpu, branch_of(driver));
        check_flavor(request, *gpu);
        if (gpu->modules == GpuModules::unclear) {
            verdict.warnings.push_back(
                fmt::format("the boards of {} differ in the kernel modules that they need: set "
                            "flavor = \"open\" or \"proprietary\"",
                            gpu->text()));
        }
        open_only = gpu->modules == GpuModules::open ? gpu : open_only;
        proprietary_only = gpu->modules == GpuModules::proprietary ? gpu : proprietary_only;
    }
    if (open_only != nullptr && proprietary_only != nullptr) {
        throw refusal(
            request,
            fmt::format("no kernel modules support both {} and {}: the one needs the open, "
                        "the other the proprietary ones",
                        open_only->text(), proprietary_only->text()),
            "use a blueprint for each");
    }
    if (open_only != nullptr) {
        verdict.flavor = DriverFlavor::open;
    } else if (proprietary_only != nullptr) {
        verdict.flavor = DriverFlavor::proprietary;
    }
    return verdict;
}

}  // namespace edgegpu
