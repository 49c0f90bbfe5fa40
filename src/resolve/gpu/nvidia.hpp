#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// Name of the driver's module in NVIDIA's repositories for RHEL 8 and 9.
inline constexpr const char* driver_module = "nvidia-driver";

/// Whether `driver` names an exact version ("535.261.03") and not a branch or "latest".
[[nodiscard]] bool is_exact_version(const std::string& driver);

/// The request with "auto" replaced by what it may stand for, the preferred first: precompiled
/// modules before DKMS, and where the flavour decides about the module stream also open before
/// proprietary ones (for branches before 560 the other way round, as NVIDIA does). Ways whose
/// module stream does not exist are left out, unless none is left. Never empty.
[[nodiscard]] std::vector<NvidiaRequest> driver_ways(const NvidiaRequest& request,
                                                     const ModuleCatalogue& catalogue);

/// The module stream that one of `driver_ways` needs, or nothing where no repository has the module
/// (RHEL 10 is not modular): `N`, `N-dkms` or `N-open` for branch N, and their like for "latest";
/// the highest branch stands for "latest" in repositories without such a stream.
[[nodiscard]] std::optional<StreamRequest> driver_stream(const NvidiaRequest& request,
                                                         const ModuleCatalogue& catalogue);

/// The flavours that fit the request for a driver version, the preferred first.
[[nodiscard]] std::vector<DriverFlavor> flavors_of(const NvidiaRequest& request,
                                                   const std::string& version);

/// Versions of the wanted driver that can be had, newest first. Throws ErrorKind::unsolvable,
/// listing what there is, if there is none.
[[nodiscard]] std::vector<std::string> driver_versions(const PackagePool& pool,
                                                       const NvidiaRequest& request);

/// Visible precompiled kernel modules of that flavour of driver `version` that were built for
/// `kernel` (a kernel-core package), best first. RHEL writes the kernel without its dist tag into
/// the name `kmod-nvidia-[open-]<driver>-<version>-<release>`; Provides `kernel-modules = K.arch`
/// says it too. Modules for the plain kernel never fit a variant of it (kernel-rt) that has the
/// same version.
[[nodiscard]] std::vector<Id> kernel_modules(const PackagePool& pool, DriverFlavor flavor,
                                             const std::string& version, Id kernel);

/// Visible packages with the DKMS sources of driver `version` in that flavour, best first.
[[nodiscard]] std::vector<Id> dkms_sources(const PackagePool& pool, DriverFlavor flavor,
                                           const std::string& version);

/// Adds to `jobs`: one of `kmods` (a stand-in may be the only one), no other kernel module package,
/// no driver package of a version other than `version`, and the profile's (or, without a module,
/// the basic) packages. Throws ErrorKind::unsolvable for an unknown profile.
void add_driver_jobs(const PackagePool& pool, const NvidiaRequest& request,
                     const ModuleSelection& modules, const std::string& version,
                     const std::vector<Id>& kmods, Jobs& jobs);

/// Adds to `jobs`: the newest container toolkit that matches the request, and none of its parts in
/// another version. Throws ErrorKind::unsolvable, listing the versions, if none matches.
void add_toolkit_jobs(const PackagePool& pool, const NvidiaRequest& request, Jobs& jobs);

}  // namespace edgegpu
