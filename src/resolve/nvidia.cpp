#include "resolve/nvidia.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <set>

#include "support/error.hpp"

namespace edgegpu {

namespace {

std::string requested_at(const NvidiaRequest& request) {
    return fmt::format("[nvidia] at {}", request.location.text());
}

/// Whether `version` is the request's exact version, or of its branch.
bool is_wanted(const std::string& version, const NvidiaRequest& request) {
    return request.driver == "latest" || version == request.driver ||
           version.starts_with(request.driver + ".");
}

bool provides(const PackagePool& pool, Id id, const std::string& capability) {
    return !pool.provided_versions(id, capability).empty();
}

/// Whether a package name ends in the kernel's version and release, the latter with or without
/// its last parts (the dist tag is cut, and minor releases append to it).
bool name_fits(const std::string& name, const std::string& prefix, const Nevra& kernel) {
    if (!name.starts_with(prefix)) {
        return false;
    }
    const std::string tail = name.substr(prefix.size());
    const std::string full = kernel.version + "-" + kernel.release;
    return tail.size() > kernel.version.size() && full.starts_with(tail) &&
           (full.size() == tail.size() || full[tail.size()] == '.');
}

bool fits_kernel(const PackagePool& pool, Id kmod, const std::string& version,
                 const Nevra& kernel) {
    const std::string exact = fmt::format("{}-{}.{}", kernel.version, kernel.release, kernel.arch);
    const std::vector<std::string> built_for = pool.provided_versions(kmod, "kernel-modules");
    if (!built_for.empty()) {
        return std::find(built_for.begin(), built_for.end(), exact) != built_for.end();
    }
    const std::string name = pool.name(kmod);
    return name_fits(name, fmt::format("kmod-nvidia-{}-", version), kernel) ||
           name_fits(name, fmt::format("kmod-nvidia-open-{}-", version), kernel);
}

bool is_precompiled(const std::string& name, const NvidiaRequest& request) {
    if (!name.starts_with("kmod-nvidia-") || name.ends_with("-dkms")) {
        return false;
    }
    const bool open = name.starts_with("kmod-nvidia-open-");
    return request.flavor == "auto" || (request.flavor == "open") == open;
}

/// Names of the packages that belong to one driver and must have its version.
std::set<std::string> driver_names(const PackagePool& pool, const ModuleSelection& modules) {
    if (const ModuleStream* stream = modules.find(driver_module); stream != nullptr) {
        std::set<std::string> names;
        for (const std::string& artifact : stream->artifacts) {
            const std::size_t epoch = artifact.find("-3:");
            if (epoch != std::string::npos) {
                names.insert(artifact.substr(0, epoch));
            }
        }
        return names;
    }
    constexpr std::array prefixes{"nvidia-driver",       "nvidia-open",     "nvidia-kmod-common",
                                  "nvidia-persistenced", "nvidia-modprobe", "cuda-drivers",
                                  "libnvidia-ml",        "libnvidia-cfg"};
    std::set<std::string> names;
    for (const Id id : pool.packages()) {
        const std::string name = pool.name(id);
        if (std::any_of(prefixes.begin(), prefixes.end(),
                        [&](const char* prefix) { return name.starts_with(prefix); })) {
            names.insert(name);
        }
    }
    return names;
}

void add_profile(const PackagePool& pool, const NvidiaRequest& request, const ModuleStream& stream,
                 Jobs& jobs) {
    const auto profile = stream.profiles.find(request.profile);
    if (profile == stream.profiles.end()) {
        std::vector<std::string> names;
        for (const auto& entry : stream.profiles) {
            names.push_back(entry.first);
        }
        throw error(ErrorKind::unsolvable, "module {}:{} has no profile '{}'", stream.id.name,
                    stream.id.stream, request.profile)
            .traced(requested_at(request))
            .hinted(fmt::format("its profiles: {}", fmt::join(names, ", ")));
    }
    const std::string why =
        fmt::format("profile {}:{}/{}", stream.id.name, stream.id.stream, request.profile);
    for (const std::string& name : profile->second) {
        std::vector<Id> found = pool.named(name);
        if (found.empty()) {
            throw error(ErrorKind::unsolvable, "package '{}' of {} is in no repository", name, why)
                .traced(requested_at(request));
        }
        if (name.ends_with("-dkms")) {
            // The precompiled module stands in for it.
            continue;
        }
        jobs.installs.push_back({std::move(found), why});
    }
}

}  // namespace

bool is_exact_version(const std::string& driver) {
    return driver != "latest" && driver.find('.') != std::string::npos;
}

std::optional<StreamRequest> driver_stream(const NvidiaRequest& request,
                                           const ModuleCatalogue& catalogue) {
    if (request.modules == "dkms") {
        throw error(ErrorKind::usage, "{}: not supported yet: [nvidia] modules = \"dkms\"",
                    request.location.text())
            .hinted("use \"precompiled\" or \"auto\"");
    }
    if (!catalogue.has_module(driver_module)) {
        return std::nullopt;
    }
    StreamRequest stream;
    stream.name = driver_module;
    stream.stream = request.driver.substr(0, request.driver.find('.'));
    if (request.flavor == "open") {
        stream.stream += "-open";
    }
    if (is_exact_version(request.driver)) {
        stream.version = request.driver;
    }
    stream.location = request.location;
    return stream;
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
        if (std::find(all.begin(), all.end(), version) != all.end()) {
            continue;
        }
        all.push_back(version);
        if (is_wanted(version, request)) {
            wanted.push_back(version);
        }
    }
    if (wanted.empty()) {
        Error failure =
            error(ErrorKind::unsolvable, "no repository has nvidia driver '{}'", request.driver);
        if (!all.empty()) {
            failure.hinted(fmt::format("versions there are: {}", fmt::join(all, ", ")));
        }
        throw failure.traced(requested_at(request));
    }
    return wanted;
}

std::vector<Id> kernel_modules(const PackagePool& pool, const NvidiaRequest& request,
                               const std::string& version, Id kernel) {
    const Nevra kernel_nevra = pool.nevra(kernel);
    std::vector<Id> found;
    for (const Id id : pool.packages()) {
        const char* name = pool_id2str(pool.get(), pool.solvable(id)->name);
        if (std::string_view(name).starts_with("kmod-nvidia-") && pool.visible(id) &&
            is_precompiled(name, request) && pool.version(id) == version &&
            fits_kernel(pool, id, version, kernel_nevra)) {
            found.push_back(id);
        }
    }
    pool.sort_best_first(found);
    return found;
}

void add_driver_jobs(const PackagePool& pool, const NvidiaRequest& request,
                     const ModuleSelection& modules, const std::string& version,
                     const std::vector<Id>& kmods, Jobs& jobs) {
    jobs.installs.push_back({kmods, fmt::format("nvidia driver {}", request.driver)});
    const std::set<std::string> family = driver_names(pool, modules);
    for (const Id id : pool.packages()) {
        if (!pool.visible(id) || std::find(kmods.begin(), kmods.end(), id) != kmods.end()) {
            continue;
        }
        const bool other_version = family.contains(pool.name(id)) && pool.version(id) != version;
        if (other_version || provides(pool, id, "nvidia-kmod")) {
            jobs.forbidden.push_back(id);
        }
    }
    if (const ModuleStream* stream = modules.find(driver_module); stream != nullptr) {
        add_profile(pool, request, *stream, jobs);
        return;
    }
    for (const char* name : {"nvidia-driver-cuda", "nvidia-kmod-common"}) {
        if (std::vector<Id> found = pool.named(name); !found.empty()) {
            jobs.installs.push_back({std::move(found), fmt::format("nvidia driver {}", version)});
        }
    }
}

void add_toolkit_jobs(const PackagePool& pool, const NvidiaRequest& request, Jobs& jobs) {
    if (request.toolkit.empty()) {
        return;
    }
    constexpr std::array parts{"nvidia-container-toolkit", "nvidia-container-toolkit-base",
                               "libnvidia-container-tools", "libnvidia-container1"};
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
            failure.hinted(fmt::format("versions there are: {}", fmt::join(all, ", ")));
        }
        throw failure.traced(requested_at(request));
    }
    jobs.installs.push_back({chosen, fmt::format("nvidia toolkit {}", request.toolkit)});
    for (const char* part : parts) {
        for (const Id id : pool.named(part)) {
            if (pool.version(id) != version) {
                jobs.forbidden.push_back(id);
            }
        }
    }
}

}  // namespace edgegpu
