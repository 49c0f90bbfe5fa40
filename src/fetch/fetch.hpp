#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/package_content.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/plan.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A verified RPM on this machine.
struct PackageFile {
    ResolvedPackage package;
    /// `packages/<sha256>.rpm` in the cache. What is read of the package is read through `content`.
    std::filesystem::path path;
    /// SHA-256 of the file, computed here, whatever checksum the repository has of it: what the
    /// cache keeps all that comes of the package under. Empty before it is verified.
    std::string sha256;
    /// The bytes that were verified; null before.
    std::shared_ptr<const PackageContent> content;
};

/// The packages of one root, in the plan's order.
using PackageFiles = std::vector<PackageFile>;

/// A ModuleBuild whose packages are here.
struct ModuleBuildFiles {
    PackageFile source;
    PackageFiles packages;
};

/// A Plan whose packages are here.
struct FetchedPackages {
    PackageFiles image;
    std::optional<ModuleBuildFiles> module_build;
    PackageFiles policy_root;
};

/// Brings every package of the plan here, each once: parallel, resumable, digest checked against
/// the metadata, signature checked against the repository's keys unless gpgcheck is off. Packages
/// of repositories of this machine (file://) are copied into the cache first, and the copy is
/// verified: what happens to the repository afterwards does not matter. With ctx.offline nothing is
/// downloaded. Throws ErrorKind::fetch naming package and repository.
[[nodiscard]] FetchedPackages fetch_packages(const Context& ctx, const Plan& plan);

}  // namespace edgegpu
