#pragma once

#include <map>
#include <string>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// Kernel modules compiled for one kernel, unsigned.
struct CompiledModules {
    /// name without ".ko" → content
    std::map<std::string, std::string> modules;
    /// License tag of the package with the sources.
    std::string license;
};

/// Compiles the modules of `files.source` for the image's kernel with dkms, in a temporary root of
/// `files.packages`: they are unpacked and their scriptlets run as for an image, in the sandbox,
/// without network. Time, host, user and paths are fixed, so that the same packages give the same
/// bytes. Throws Error with the end of make.log if dkms fails or a module listed in dkms.conf is
/// missing.
[[nodiscard]] CompiledModules compile_modules(const Context& ctx, const Resolution& resolution,
                                              const ModuleBuildFiles& files);

/// The time that the compiler sees: the newest build time of the sources and the packages that
/// compile them. Unix time.
[[nodiscard]] std::int64_t compile_time(const Resolution& resolution);

}  // namespace edgegpu
