#pragma once

#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "kmods/build_root.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"

namespace edgegpu {

/// Directory in the image with the certificate ("….der") that belongs to the signatures of compiled
/// modules.
inline constexpr const char* certificate_directory = "/usr/share/edgegpu/secure-boot";

/// Under what the compiled modules of resolution.dkms_source are cached: a digest of the sources,
/// of all packages that compile them, and of the keys that `repositories` verify these with, since
/// a build that finds the modules does not fetch these packages, and must not take what was made
/// of packages that it would refuse. Keys may come from the network. Throws ErrorKind::fetch for a
/// key that cannot be read.
[[nodiscard]] std::string compiled_modules_key(const Context& ctx,
                                               const std::vector<Repository>& repositories,
                                               const Resolution& resolution);

/// The compiled modules, unsigned, if they are in the cache.
[[nodiscard]] std::optional<CompiledModules> find_compiled_modules(const Context& ctx,
                                                                   const std::string& key);

/// Compiles the modules and adds them to the cache. Throws what `compile_modules` throws.
[[nodiscard]] CompiledModules build_modules(const Context& ctx, const std::string& key,
                                            const Resolution& resolution,
                                            const ModuleBuildFiles& files);

/// Packages the modules like NVIDIA's precompiled ones: the package is named
/// `kmod-nvidia-[open-]DRIVER-KERNEL`, provides `nvidia-kmod` and `kernel-modules`, and contains
/// /usr/lib/modules/K/extra/*.ko. If `signer` has a module key, the modules are signed, and the
/// package contains the certificate. Throws what Signer::sign_module throws.
[[nodiscard]] PackageFile package_modules(const Context& ctx, const Resolution& resolution,
                                          const CompiledModules& compiled, Signer& signer);

}  // namespace edgegpu
