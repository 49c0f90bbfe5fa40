#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// The driver's module in NVIDIA's repositories for RHEL 8 and 9.
inline constexpr const char* driver_module = "nvidia-driver";

/// Whether `driver` is a version ("535.261.03"), not a branch or "latest".
[[nodiscard]] bool is_exact_version(const std::string& driver);

/// Whether a version is one that the request names: its own, one of its branch, or any ("latest").
[[nodiscard]] bool is_wanted_driver(const std::string& version, const NvidiaRequest& request);

/// The variants of a request with "auto" replaced, the preferred first: precompiled modules before
/// DKMS; if the flavor determines the module stream, also open before proprietary ones (the reverse
/// for branches before 560, as NVIDIA's default). Variants whose module stream does not exist are
/// omitted, unless none remains. Never empty.
[[nodiscard]] std::vector<NvidiaRequest> driver_variants(const NvidiaRequest& request,
                                                         const ModuleCatalogue& catalogue);

/// The module stream for one of `driver_variants`; nothing if no repository has the module (RHEL 10
/// is not modular). `N`, `N-dkms` or `N-open` for branch N; `latest`, `latest-dkms`, `open` or
/// `open-dkms` for "latest", or that of the highest branch if there is no such stream.
[[nodiscard]] std::optional<StreamRequest> driver_stream(const NvidiaRequest& request,
                                                         const ModuleCatalogue& catalogue);

/// The flavors that the request allows for a driver version or branch, the preferred first.
[[nodiscard]] std::vector<DriverFlavor> flavors_of(const NvidiaRequest& request,
                                                   const std::string& version);

/// Available versions of the requested driver, newest first. Throws ErrorKind::unsolvable listing
/// all versions if there is none.
[[nodiscard]] std::vector<std::string> driver_versions(const PackagePool& pool,
                                                       const NvidiaRequest& request);

/// Visible precompiled kernel modules of driver `version` and `flavor` for `kernel` (a kernel-core
/// package), best first. Their kernel is given by Provides `kernel-modules = K.arch`, or by the
/// name `kmod-nvidia-[open-]<driver>-<version>-<release>`, which omits the dist tag. Modules for
/// the standard kernel never match a variant (kernel-rt) of the same version.
[[nodiscard]] std::vector<Id> kernel_modules(const PackagePool& pool, DriverFlavor flavor,
                                             const std::string& version, Id kernel);

/// Visible packages with DKMS sources of driver `version` and `flavor`, best first.
[[nodiscard]] std::vector<Id> dkms_sources(const PackagePool& pool, DriverFlavor flavor,
                                           const std::string& version);

/// Adds to `jobs`: install one of `kmods` (or the stand-in, if that is the only one) and the
/// packages of the profile (without a module the basic ones); forbid all other kernel module
/// packages, and driver packages of other versions. Throws ErrorKind::unsolvable for an unknown
/// profile.
void add_driver_jobs(const PackagePool& pool, const NvidiaRequest& request,
                     const ModuleSelection& modules, const std::string& version,
                     const std::vector<Id>& kmods, Jobs& jobs);

/// Adds to `jobs`: install the newest container toolkit that matches the request; forbid other
/// versions of its parts. Throws ErrorKind::unsolvable listing the versions if none matches.
void add_toolkit_jobs(const PackagePool& pool, const NvidiaRequest& request, Jobs& jobs);

}  // namespace edgegpu
