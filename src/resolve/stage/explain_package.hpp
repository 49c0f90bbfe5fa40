#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/resolve.hpp"

namespace edgegpu {

/// A package of the image, and the chain of dependencies that leads to it.
struct PackageReason {
    ResolvedPackage package;
    /// The spec, if it is not a name of the package: "nvidia-kmod"; else empty.
    std::string provides;
    /// The line of the blueprint at which the chain begins.
    std::string origin;
    /// "X requires Y", beginning at the blueprint's line; empty if the package itself is requested.
    std::vector<std::string> chain;
    /// Other packages of the image that require it directly, sorted.
    std::vector<std::string> required_by;
};

/// Why a package is in the image or not.
struct PackageAnswer {
    std::vector<PackageReason> installed;
    /// If nothing is installed: the reasons, one line each.
    std::vector<std::string> kept_out;
};

/// The answer for a spec (name, NEVRA form, Provides, path; globs). Throws what `resolve` throws,
/// and ErrorKind::failure with similar names if no repository has such a package.
[[nodiscard]] PackageAnswer why_package(const Context& ctx, const Blueprint& blueprint,
                                        const std::string& spec,
                                        const ResolveOptions& options = {});

}  // namespace edgegpu
