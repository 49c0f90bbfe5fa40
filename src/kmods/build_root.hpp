#pragma once

#include <map>
#include <string>

#include "fetch/fetch.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Kernel modules compiled for one kernel, not signed.
struct CompiledModules {
    /// name without ".ko" → content
    std::map<std::string, std::string> modules;
    /// license of the package with the sources
    std::string license;
};

/// Compiles the modules of `files.source` for the image's kernel with the real dkms, in a root made
/// of `files.root` and gone afterwards: unpacked and their scriptlets run as for an image, without
/// network, in the sandbox. Nothing of it enters the image. Time, host, user and paths are fixed,
/// so that the same packages give the same bytes. Throws Error with the end of make.log where a
/// module that the sources promise does not come out.
[[nodiscard]] CompiledModules compile_modules(const Context& ctx, const Resolution& resolution,
                                              const ModuleBuildFiles& files);

/// The newest build time of what is compiled and what with: the compiler's "now", Unix time.
[[nodiscard]] std::int64_t compile_time(const Resolution& resolution);

}  // namespace edgegpu
