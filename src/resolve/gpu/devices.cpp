#include "resolve/gpu/devices.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

Error refusal(const NvidiaRequest& request, const std::string& message, const std::string& hint) {
    return error(ErrorKind::unsolvable, "{}: {}", request.devices_location.text(), message)
        .hinted(hint);
}

void check_branch(const NvidiaRequest& request, const Gpu& gpu, unsigned branch) {
    if (branch == 0) {
        return;
    }
    if (gpu.last_branch != 0 && branch > gpu.last_branch) {
        throw refusal(request,
                      fmt::format("NVIDIA driver {} does not support {}: its last branch is {}",
                                  branch, gpu.text(), gpu.last_branch),
                      fmt::format("set driver = \"{}\"", gpu.last_branch));
    }
    if (gpu.first_branch != 0 && branch < gpu.first_branch) {
        throw refusal(request,
                      fmt::format("NVIDIA driver {} does not support {}: its first branch is {}",
                                  branch, gpu.text(), gpu.first_branch),
                      fmt::format("set driver = \"{}\"{}", gpu.first_branch,
                                  gpu.last_branch == 0 ? " or a later branch" : ""));
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

/// A GPU that the driver's own list does not have. Such lists leave out some that all branches
/// support: only for these is it a warning.
std::string not_in_own_list(const NvidiaRequest& request, const GpuTable& own,
                            const std::string& device) {
    const GpuTable shipped = shipped_gpus();
    const Gpu* known = shipped.find(device);
    if (known == nullptr) {
        throw refusal(
            request,
            fmt::format("{} is not in {}, and not in edgegpu's GPU table", device, own.called),
            "compare it with what 'lspci -d 10de: -n' shows on a device; a newer driver "
            "may support it");
    }
    const std::string missing = fmt::format(
        "{} is not in {}, although edgegpu's GPU table has it ({})", known->text(), own.called,
        known->first_branch == 0 && known->last_branch == 0 ? "all branches" : known->branches());
    if (!known->left_out) {
        throw refusal(request, missing,
                      "set driver to a newer release, whose README has it among the supported "
                      "products");
    }
    check_branch(request, *known, branch_of(own.driver));
    check_flavor(request, *known);
    return missing + ": NVIDIA's lists leave it out";
}

}  // namespace

unsigned branch_of(const std::string& driver) {
    return leading_number<unsigned>(driver);
}

DeviceVerdict check_devices(const NvidiaRequest& request, const GpuTable& table,
                            const std::string& driver, bool own) {
    DeviceVerdict verdict;
    verdict.flavor = request.flavor;
    const auto warn = [&](const std::string& message) {
        verdict.warnings.push_back(fmt::format("{}: {}", request.devices_location.text(), message));
    };
    const Gpu* open_only = nullptr;
    const Gpu* proprietary_only = nullptr;
    for (const std::string& device : request.devices) {
        const Gpu* gpu = table.find(device);
        if (gpu == nullptr) {
            warn(own ? not_in_own_list(request, table, device)
                     : fmt::format("{} does not have {}: not checked", table.called, device));
            continue;
        }
        check_branch(request, *gpu, branch_of(driver));
        check_flavor(request, *gpu);
        if (gpu->modules == GpuModules::unclear) {
            warn(
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
            fmt::format("no kernel modules support both {} and {}: the first needs the open "
                        "ones, the second the proprietary ones",
                        open_only->text(), proprietary_only->text()),
            "build an image for each, from two blueprints");
    }
    if (open_only != nullptr) {
        verdict.flavor = DriverFlavor::open;
    } else if (proprietary_only != nullptr) {
        verdict.flavor = DriverFlavor::proprietary;
    }
    return verdict;
}

std::vector<std::string> check_requested_devices(const std::optional<NvidiaRequest>& request) {
    return request ? check_devices(*request, shipped_gpus(), request->driver, false).warnings
                   : std::vector<std::string>();
}

}  // namespace edgegpu
