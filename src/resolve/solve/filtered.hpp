#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// Why a package is hidden: `excludes has "we*"`, "repository 'x' is disabled", "modular filtering:
/// it is part of nodejs:18, which is not enabled", …; empty for a visible one.
[[nodiscard]] std::string filtered_because(const PackagePool& pool, const Blueprint& blueprint,
                                           const ModuleCatalogue& catalogue, Id id);

/// Streams (name, stream) with the package among their artifacts, sorted, unique.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> streams_holding(
    const PackagePool& pool, const ModuleCatalogue& catalogue, Id id);

/// Kernels that match the glob in [nvidia] kernel but are not considered because another repository
/// with kernels has a better priority, best first. `kernel` is the name of the kernel's package.
[[nodiscard]] std::vector<Id> outranked_kernels(const PackagePool& pool, const std::string& kernel,
                                                const std::optional<NvidiaRequest>& nvidia);

/// Hidden packages that match the spec, or else provide it, best first.
[[nodiscard]] std::vector<Id> hidden_matches(const PackagePool& pool, const std::string& spec);

/// All packages that provide a dependency, hidden or not, ascending.
[[nodiscard]] std::vector<Id> all_providers(const PackagePool& pool, Id dependency);

}  // namespace edgegpu
