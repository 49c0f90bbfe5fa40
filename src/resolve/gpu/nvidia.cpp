#include "resolve/gpu/nvidia.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>

#include "resolve/gpu/devices.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

std::string requested_at(const NvidiaRequest& request) {
    return fmt::format("[nvidia] at {}", request.location.text());
}

/// Whether a package name is `prefix` and the kernel's version and release. The release may lack
/// its last parts: package names omit the dist tag, to which minor releases append.
bool name_fits(const std::string& name, const std::string& prefix, const Nevra& kernel) {
    if (!name.starts_with(prefix)) {
        return false;
    }
    const std::string tail = name.substr(prefix.size());
    const std::string full = kernel.version + "-" + kernel.release;
    return tail.size() > kernel.version.size() && full.starts_with(tail) &&
           (full.size() == tail.size() || full[tail.size()] == '.');
}

/// Values of `kernel-modules` that match this kernel: its `uname -r`, and for the standard kernel
/// its version. A variant such as kernel-rt may have the same version as the standard kernel, but
/// not the same `uname -r`.
std::vector<std::string> targets_of(const PackagePool& pool, Id kernel) {
    const Nevra nevra = pool.nevra(kernel);
    std::vector<std::string> targets = pool.provided_versions(kernel, "kernel-uname-r");
    if (targets.empty() || nevra.name == "kernel-core" || nevra.name == "kernel") {
        targets.push_back(fmt::format("{}-{}.{}", nevra.version, nevra.release, nevra.arch));
    }
    return targets;
}

bool fits_kernel(const PackagePool& pool, Id kmod, const std::string& prefix, const Nevra& kernel,
                 const std::vector<std::string>& targets) {
    const auto is_target = [&](const std::string& text) {
        return std::ranges::find(targets, text) != targets.end();
    };
    const std::vector<std::string> built_for = pool.provided_versions(kmod, "kernel-modules");
    if (!built_for.empty()) {
        return std::ranges::any_of(built_for, is_target);
    }
    return is_target(fmt::format("{}-{}.{}", kernel.version, kernel.release, kernel.arch)) &&
           name_fits(pool.name(kmod), prefix, kernel);
}

/// Whether a package is of `flavor`; DKMS packages of proprietary modules have several names.
bool is_flavor(std::string_view name, DriverFlavor flavor) {
    return name.starts_with("kmod-nvidia-open-") == (flavor == DriverFlavor::open);
}

/// Whether a package may belong to the driver: user space, firmware or kernel modules.
bool is_driver_name(std::string_view name) {
    constexpr std::array<std::string_view, 22> prefixes{
        "nvidia-driver",   "nvidia-open",         "nvidia-kmod-common",    "nvidia-persistenced",
        "nvidia-modprobe", "nvidia-settings",     "nvidia-xconfig",        "nvidia-libXNVCtrl",
        "nvidia-firmware", "nvidia-gsp-firmware", "nvidia-fabric-manager", "nvidia-fabricmanager",
        "nvidia-imex",     "cuda-drivers",        "libnvidia-ml",          "libnvidia-cfg",
        "libnvidia-fbc",   "libnvidia-gpucomp",   "libnvidia-nscq",        "libnvsdm",
        "xorg-x11-nvidia", "kmod-nvidia-"};
    return std::ranges::any_of(prefixes,
                               [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Names of the driver stream's artifacts with the driver's epoch, 3.
std::set<std::string, std::less<>> artifact_names(const ModuleSelection& modules) {
    std::set<std::string, std::less<>> names;
    if (const ModuleStream* stream = modules.find(driver_module); stream != nullptr) {
        for (const std::string& artifact : stream->artifacts) {
            const std::size_t epoch = artifact.find("-3:");
            if (epoch != std::string::npos) {
                names.insert(artifact.substr(0, epoch));
            }
        }
    }
    return names;
}

void add_profile(const PackagePool& pool, const NvidiaRequest& request, const ModuleStream& stream,
                 Jobs& jobs) {
    const auto profile = stream.profiles.find(request.profile);
    if (profile == stream.profiles.end()) {
        throw error(ErrorKind::unsolvable, "module {}:{} has no profile '{}'", stream.id.name,
                    stream.id.stream, request.profile)
            .traced(requested_at(request))
            .hinted(fmt::format("its profiles: {}", fmt::join(keys_of(stream.profiles), ", ")));
    }
    const Reason why{Reason::Kind::profile, stream.id.name, stream.id.stream, request.profile};
    for (const std::string& name : profile->second) {
        if (name == "dkms" || name.ends_with("-dkms")) {
            // DKMS is not needed in the image: modules are precompiled, or compiled in the build
            // root.
            continue;
        }
        std::vector<Id> found = pool.named(name);
        if (found.empty()) {
            throw error(ErrorKind::unsolvable, "package '{}' of {} is in no repository", name,
                        why.text())
                .traced(requested_at(request));
        }
        jobs.installs.push_back({std::move(found), why});
    }
}

/// The highest branch that has a stream; "latest" if none has.
std::string highest_branch(const ModuleCatalogue& catalogue) {
    unsigned highest = 0;
    for (const std::string& stream : catalogue.stream_names(driver_module)) {
        highest = std::max(highest, branch_of(stream));
    }
    return highest == 0 ? "latest" : std::to_string(highest);
}

/// The module stream for a request in which modules and flavor are not automatic.
std::string stream_name(const NvidiaRequest& request, const ModuleCatalogue& catalogue) {
    const bool open = request.flavor == DriverFlavor::open;
    std::string base = request.driver.substr(0, request.driver.find('.'));
    if (request.driver == "latest") {
        const std::string suffix = request.modules == DriverModules::dkms ? "-dkms" : "";
        std::string stream = (open ? "open" : "latest") + suffix;
        const std::vector<std::string> streams = catalogue.stream_names(driver_module);
        if (std::ranges::find(streams, stream) != streams.end()) {
            return stream;
        }
        base = highest_branch(catalogue);
    }
    // Streams N-open contain DKMS sources, and also the precompiled open modules if a repository
    // has any.
    return base + (open ? "-open" : request.modules == DriverModules::dkms ? "-dkms" : "");
}

}  // namespace

bool is_wanted_driver(const std::string& version, const NvidiaRequest& request) {
    return request.driver == "latest" || version == request.driver ||
           version.starts_with(request.driver + ".");
}

bool is_exact_version(const std::string& driver) {
    return driver != "latest" && driver.find('.') != std::string::npos;
}

std::vector<DriverFlavor> flavors_of(const NvidiaRequest& request, const std::string& version) {
    if (request.flavor != DriverFlavor::automatic) {
        return {request.flavor};
    }
    // The open modules are NVIDIA's default since branch 560, and thus for "latest" (branch 0).
    constexpr unsigned first_open_default = 560;
    const unsigned branch = branch_of(version);
    if (branch == 0 || branch >= first_open_default) {
        return {DriverFlavor::open, DriverFlavor::proprietary};
    }
    return {DriverFlavor::proprietary, DriverFlavor::open};
}

std::optional<StreamRequest> driver_stream(const NvidiaRequest& request,
                                           const ModuleCatalogue& catalogue) {
    if (!catalogue.has_module(driver_module)) {
        return std::nullopt;
    }
    StreamRequest stream;
    stream.name = driver_module;
    stream.stream = stream_name(request, catalogue);
    if (is_exact_version(request.driver)) {
        stream.version = request.driver;
    }
    stream.location = request.location;
    return stream;
}

std::vector<NvidiaRequest> driver_variants(const NvidiaRequest& request,
                                           const ModuleCatalogue& catalogue) {
    const bool modular = catalogue.has_module(driver_module);
    const std::vector<std::string> streams = catalogue.stream_names(driver_module);
    const std::vector<DriverFlavor> flavors =
        modular ? flavors_of(request, request.driver) : std::vector<DriverFlavor>{request.flavor};
    std::vector<NvidiaRequest> all;
    for (const DriverModules modules : {DriverModules::precompiled, DriverModules::dkms}) {
        if (request.modules != DriverModules::automatic && request.modules != modules) {
            continue;
        }
        for (const DriverFlavor flavor : flavors) {
            NvidiaRequest variant = request;
            variant.modules = modules;
            variant.flavor = flavor;
            all.push_back(std::move(variant));
        }
    }
    std::vector<NvidiaRequest> variants;
    std::ranges::copy_if(all, std::back_inserter(variants), [&](const NvidiaRequest& variant) {
        return !modular ||
               std::ranges::find(streams, stream_name(variant, catalogue)) != streams.end();
    });
    if (variants.empty()) {
        // The error is about the plain stream then.
        const auto plain = std::ranges::find_if(all, [](const NvidiaRequest& variant) {
            return variant.modules == DriverModules::precompiled &&
                   variant.flavor == DriverFlavor::proprietary;
        });
        variants.push_back(plain != all.end() ? *plain : all.front());
    }
    return variants;
}

std::vector<std::string> driver_versions(const PackagePool& pool, const NvidiaRequest& request) {
    std::vector<Id> drivers;
    for (const char* name : {"nvidia-driver-cuda", "nvidia-driver", "nvidia-open"}) {
        drivers = pool.named(name);
        if (!drivers.empty()) {
            break;
        }
    }
    std::vector<std::string> wanted;
    std::vector<std::string> all;
    for (const Id id : drivers) {
        const std::string version = pool.version(id);
        if (std::ranges::find(all, version) != all.end()) {
            continue;
        }
        all.push_back(version);
        if (is_wanted_driver(version, request)) {
            wanted.push_back(version);
        }
    }
    if (wanted.empty()) {
        Error failure =
            error(ErrorKind::unsolvable, "no repository has nvidia driver '{}'", request.driver);
        if (!all.empty()) {
            failure.hinted(fmt::format("available versions: {}", fmt::join(all, ", ")));
        }
        throw failure.traced(requested_at(request));
    }
    return wanted;
}

std::vector<Id> kernel_modules(const PackagePool& pool, DriverFlavor flavor,
                               const std::string& version, Id kernel) {
    const Nevra kernel_nevra = pool.nevra(kernel);
    const std::vector<std::string> targets = targets_of(pool, kernel);
    const std::string prefix =
        fmt::format("kmod-nvidia-{}{}-", flavor == DriverFlavor::open ? "open-" : "", version);
    std::vector<Id> found;
    for (const Id id : pool.packages()) {
        const std::string_view name = pool_id2str(pool.get(), pool.solvable(id)->name);
        if (name.starts_with("kmod-nvidia-") && !name.ends_with("-dkms") &&
            is_flavor(name, flavor) && pool.visible(id) && pool.version(id) == version &&
            fits_kernel(pool, id, prefix, kernel_nevra, targets)) {
            found.push_back(id);
        }
    }
    pool.sort_best_first(found);
    return found;
}

std::vector<Id> dkms_sources(const PackagePool& pool, DriverFlavor flavor,
                             const std::string& version) {
    std::vector<Id> found;
    for (const auto& entry : pool.stand_ins()) {
        const Id id = entry.first;
        if (pool.visible(id) && is_flavor(pool.name(id), flavor) && pool.version(id) == version) {
            found.push_back(id);
        }
    }
    pool.sort_best_first(found);
    return found;
}

void add_driver_jobs(const PackagePool& pool, const NvidiaRequest& request,
                     const ModuleSelection& modules, const std::string& version,
                     const std::vector<Id>& kmods, Jobs& jobs) {
    jobs.installs.push_back({kmods, {Reason::Kind::driver, request.driver}});
    jobs.stand_in = pool.is_stand_in(kmods.front()) ? kmods.front() : 0;
    const std::set<std::string, std::less<>> artifacts = artifact_names(modules);
    const std::vector<Id> all_kmods = pool.providers("nvidia-kmod");
    for (const Id id : pool.packages()) {
        if (!pool.visible(id) || std::ranges::find(kmods, id) != kmods.end()) {
            continue;
        }
        const std::string_view name = pool_id2str(pool.get(), pool.solvable(id)->name);
        const bool of_a_driver = is_driver_name(name) || artifacts.contains(name);
        if ((of_a_driver && pool.version(id) != version) ||
            std::ranges::binary_search(all_kmods, id)) {
            jobs.forbidden.push_back(id);
        }
    }
    if (const ModuleStream* stream = modules.find(driver_module); stream != nullptr) {
        add_profile(pool, request, *stream, jobs);
        return;
    }
    for (const char* name : {"nvidia-driver-cuda", "nvidia-kmod-common"}) {
        if (std::vector<Id> found = pool.named(name); !found.empty()) {
            jobs.installs.push_back({std::move(found), {Reason::Kind::driver, version}});
        }
    }
}

void add_toolkit_jobs(const PackagePool& pool, const NvidiaRequest& request, Jobs& jobs) {
    if (request.toolkit.empty()) {
        return;
    }
    constexpr std::array parts{"nvidia-container-toolkit", "nvidia-container-toolkit-base",
                               "libnvidia-container-tools", "libnvidia-container1",
                               "libnvidia-container-devel"};
    std::vector<Id> chosen;
    std::string version;
    std::vector<std::string> all;
    for (const Id id : pool.named(parts[0])) {
        const Nevra nevra = pool.nevra(id);
        all.push_back(nevra.version);
        const std::string with_release = nevra.version + "-" + nevra.release;
        const bool fits = ::fnmatch(request.toolkit.c_str(), nevra.version.c_str(), 0) == 0 ||
                          ::fnmatch(request.toolkit.c_str(), with_release.c_str(), 0) == 0;
        if (fits && (version.empty() || version == nevra.version)) {
            version = nevra.version;
            chosen.push_back(id);
        }
    }
    if (chosen.empty()) {
        Error failure = error(ErrorKind::unsolvable,
                              "no nvidia-container-toolkit matches version '{}'", request.toolkit);
        if (!all.empty()) {
            failure.hinted(fmt::format("available versions: {}", fmt::join(all, ", ")));
        }
        throw failure.traced(requested_at(request));
    }
    jobs.installs.push_back({chosen, {Reason::Kind::toolkit, request.toolkit}});
    for (const char* part : parts) {
        for (const Id id : pool.named(part)) {
            if (pool.version(id) != version) {
                jobs.forbidden.push_back(id);
            }
        }
    }
}

}  // namespace edgegpu
