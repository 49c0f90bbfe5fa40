#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// The packages needed to compile kernel modules.
struct ModuleBuild {
    /// The package with their sources.
    ResolvedPackage source;
    /// Compiler, kernel headers and their dependencies.
    std::vector<ResolvedPackage> packages;
};

/// Everything that a build downloads after resolving, known before the first download: only `fetch`
/// uses the network, and downloads exactly this. A package may be in several roots; it is fetched
/// once.
struct Plan {
    /// A repository that has packages of the plan.
    struct Source {
        Repository repository;
        /// SHA-256 of the repomd.xml from which the packages were chosen; empty: unknown.
        std::string repomd_sha256;
    };
    /// By id; exactly the repositories of the packages below.
    std::map<std::string, Source> sources;
    std::vector<ResolvedPackage> image;
    /// Nothing if no kernel modules have to be compiled.
    std::optional<ModuleBuild> module_build;
    /// The packages that compile policy modules; empty if that needs none.
    std::vector<ResolvedPackage> policy_root;
};

/// Parts that the cache makes unnecessary.
struct PlanOptions {
    /// The kernel modules of this resolution are in the cache.
    bool modules_compiled = false;
};

/// The plan for a resolution. Throws ErrorKind::fetch for a package whose repository is not one of
/// the blueprint's `repositories`.
[[nodiscard]] Plan make_plan(const Resolution& resolution,
                             const std::vector<Repository>& repositories,
                             const PlanOptions& options = {});

}  // namespace edgegpu
