#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// What hides a package in the user's terms: "excludes has 'we*'", "repository 'x' is disabled",
/// "modular filtering: it is part of nodejs:18, which is not enabled", …; empty for a visible one.
[[nodiscard]] std::string filtered_because(const PackagePool& pool, const Blueprint& blueprint,
                                           const ModuleCatalogue& catalogue, Id id);

/// Streams whose artifacts the package is among, "name:stream", sorted, each once.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> streams_holding(
    const PackagePool& pool, const ModuleCatalogue& catalogue, Id id);

/// Kernels that [nvidia] kernel asks for by name and that are left out because another repository
/// with kernels ranks above theirs, best first.
[[nodiscard]] std::vector<Id> outranked_kernels(const PackagePool& pool,
                                                const Blueprint& blueprint);

/// Hidden packages that the spec would match, or (by name and Provides) that would fulfil it, best
/// first.
[[nodiscard]] std::vector<Id> hidden_matches(const PackagePool& pool, const std::string& spec);

/// Hidden packages that provide a dependency, best first.
[[nodiscard]] std::vector<Id> hidden_providers(const PackagePool& pool, Id dependency);

/// All packages that provide a dependency, hidden or not, ascending.
[[nodiscard]] std::vector<Id> all_providers(const PackagePool& pool, Id dependency);

}  // namespace edgegpu
