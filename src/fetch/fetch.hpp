#pragma once

#include <filesystem>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A verified RPM on this machine.
struct PackageFile {
    ResolvedPackage package;
    /// `packages/<sha256>.rpm` in the cache, or the file itself for file:// repositories
    std::filesystem::path path;
    /// SHA-256 of the file, computed here, whatever checksum the repository has of it: what the
    /// cache keeps all that comes of the package under. Empty before it is verified.
    std::string sha256;
};

/// All packages of a resolution, in its order.
using PackageFiles = std::vector<PackageFile>;

/// Brings every package of `resolution` here: parallel, resumable, digest checked against the
/// metadata, signature checked against the repository's keys unless gpgcheck is off.
/// With ctx.offline nothing is downloaded. Throws ErrorKind::fetch naming package and repository.
[[nodiscard]] PackageFiles fetch_packages(const Context& ctx, const Blueprint& blueprint,
                                          const Resolution& resolution);

}  // namespace edgegpu
