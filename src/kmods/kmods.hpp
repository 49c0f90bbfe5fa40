#pragma once

#include <string>

#include "blueprint/blueprint.hpp"
#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "signing/signer.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Where the certificate lies that modules compiled here are signed with: "….der" below it.
inline constexpr const char* certificate_directory = "/usr/share/edgegpu/secure-boot";

/// The kernel modules that have to be compiled for this image (resolution.dkms_source), as a
/// package like NVIDIA's precompiled ones: named `kmod-nvidia-[open-]DRIVER-KERNEL`, it provides
/// `nvidia-kmod` and `kernel-modules`, its files are /usr/lib/modules/K/extra/*.ko. Where
/// `signer` has a key for them, the modules are signed, and the certificate is in the package. What
/// was compiled is kept in the cache, unsigned, under the digests of the sources and of every
/// package that compiled it. Throws what `compile_modules` and Signer::sign_module throw.
[[nodiscard]] PackageFile build_module_package(const Context& ctx, const Blueprint& blueprint,
                                               const Resolution& resolution, Signer& signer);

}  // namespace edgegpu
