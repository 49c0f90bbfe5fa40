#pragma once

#include <optional>

#include "fetch/fetch.hpp"
#include "kmods/build_root.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Where the certificate lies that modules compiled here are signed with: "….der" below it.
inline constexpr const char* certificate_directory = "/usr/share/edgegpu/secure-boot";

/// The modules of resolution.dkms_source, where the cache has them: they are kept there, unsigned,
/// under the digests of the sources and of every package that compiles them.
[[nodiscard]] std::optional<CompiledModules> find_compiled_modules(const Context& ctx,
                                                                   const Resolution& resolution);

/// Compiles them, and keeps them for `find_compiled_modules`. Throws what `compile_modules` throws.
[[nodiscard]] CompiledModules build_modules(const Context& ctx, const Resolution& resolution,
                                            const ModuleBuildFiles& files);

/// The modules as a package like NVIDIA's precompiled ones: named
/// `kmod-nvidia-[open-]DRIVER-KERNEL`, it provides `nvidia-kmod` and `kernel-modules`, its files
/// are /usr/lib/modules/K/extra/*.ko. Where `signer` has a key for them, the modules are signed,
/// and the certificate is in the package. Throws what Signer::sign_module throws.
[[nodiscard]] PackageFile package_modules(const Context& ctx, const Resolution& resolution,
                                          const CompiledModules& compiled, Signer& signer);

}  // namespace edgegpu
