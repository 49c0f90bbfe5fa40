#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "fetch/package_content.hpp"
#include "resolve/resolution.hpp"
#include "resolve/stage/plan.hpp"

namespace edgegpu {

/// A package and its RPM file in the cache.
struct PackageFile {
    ResolvedPackage package;
    /// `packages/<sha256>.rpm` in the cache. The package is read through `content`, never by this
    /// path.
    std::filesystem::path path;
    /// SHA-256 of the file, computed by edgegpu whatever the algorithm of the repository's
    /// checksum; the cache key of everything derived from the package. Empty before verification.
    std::string sha256;
    /// The verified bytes; null before verification.
    std::shared_ptr<const PackageContent> content;
};

/// The packages of one root, in the plan's order.
using PackageFiles = std::vector<PackageFile>;

/// The fetched packages of a ModuleBuild.
struct ModuleBuildFiles {
    PackageFile source;
    PackageFiles packages;
};

/// The fetched packages of a Plan.
struct FetchedPackages {
    PackageFiles image;
    std::optional<ModuleBuildFiles> module_build;
    PackageFiles policy_root;
};

/// Fetches every package of the plan once: downloads in parallel, continuing partial files, and
/// verifies the checksum given by the metadata, and the signature unless gpgcheck is off. Packages
/// of local repositories (file://) are first copied into the cache, and the copy is verified, so
/// that later changes of the repository have no effect. With ctx.offline nothing is downloaded.
/// Throws ErrorKind::fetch naming package and repository.
[[nodiscard]] FetchedPackages fetch_packages(const Context& ctx, const Plan& plan);

}  // namespace edgegpu
