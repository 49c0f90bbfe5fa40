#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A package of the image, and the way that leads to it.
struct PackageReason {
    ResolvedPackage package;
    /// what was asked for, where it is no name of the package: "nvidia-kmod"
    std::string provides;
    /// the line of the blueprint the chain begins at
    std::string origin;
    /// "X requires Y", from the blueprint's line down; empty where it was asked for itself
    std::vector<std::string> chain;
    /// other packages of the image that require it directly, sorted
    std::vector<std::string> required_by;
};

/// Why a package is in the image or not.
struct PackageAnswer {
    std::vector<PackageReason> installed;
    /// with nothing installed: what keeps it out, a line each
    std::vector<std::string> kept_out;
};

/// Answers for a spec (name, NEVRA form, Provides, path; globs). Throws what `resolve` throws, and
/// ErrorKind::failure with the nearest names if no repository has such a package.
[[nodiscard]] PackageAnswer why_package(const Context& ctx, const Blueprint& blueprint,
                                        const std::string& spec);

}  // namespace edgegpu
