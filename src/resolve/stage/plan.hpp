#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/resolution.hpp"

namespace edgegpu {

/// What kernel modules are compiled from and with.
struct ModuleBuild {
    /// the package of their sources
    ResolvedPackage source;
    /// compiler, kernel headers and what they need
    std::vector<ResolvedPackage> packages;
};

/// Everything that a build downloads, decided before the first package: no stage but `fetch` goes
/// to the network, and `fetch` brings this and no more. A package may be in several roots; it is
/// fetched once.
struct Plan {
    /// A repository that packages come from.
    struct Source {
        Repository repository;
        /// SHA-256 of the repomd.xml that the packages were chosen from; empty: not known
        std::string repomd_sha256;
    };
    /// by id: exactly those repositories that something below comes from
    std::map<std::string, Source> sources;
    std::vector<ResolvedPackage> image;
    /// nothing where no modules have to be compiled
    std::optional<ModuleBuild> module_build;
    /// what compiles policy modules; empty where none needs it
    std::vector<ResolvedPackage> policy_root;
};

/// What the cache makes unnecessary.
struct PlanOptions {
    /// The kernel modules of this resolution are compiled already.
    bool modules_compiled = false;
};

/// The plan for a resolution. Throws ErrorKind::fetch for a package of a repository that is not
/// among `repositories`, the blueprint's.
[[nodiscard]] Plan make_plan(const Resolution& resolution,
                             const std::vector<Repository>& repositories,
                             const PlanOptions& options = {});

}  // namespace edgegpu
