#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// The line of the blueprint that something goes back to.
struct Origin {
    enum class Kind : std::uint8_t {
        package,  ///< blueprint.packages[index]
        group,    ///< blueprint.groups[index]
        module,   ///< blueprint.modules[index]
        set,      ///< the package set of the distribution
        nvidia,   ///< [nvidia] driver
        toolkit,  ///< [nvidia] toolkit
        kernel    ///< the image's kernel: [nvidia] kernel where there is one
    };
    Kind kind = Kind::kernel;
    std::size_t index = 0;
    SourceLocation location;
    /// "FILE:9:5 asks for app-1.*"
    std::string text;
};

/// Why a set of packages cannot be had.
struct Cause {
    std::string message;
    /// the chains of packages, from the blueprint's lines down
    std::vector<std::string> lines;
    /// where the chains begin
    std::vector<Origin> origins;
    /// the packages along the chains, from the blueprint's lines down
    std::vector<Id> packages;
    /// packages that are filtered out and would do, best first
    std::vector<Id> filtered;
};

/// The line of the blueprint that an install job goes back to.
[[nodiscard]] Origin origin_of(const PackagePool& pool, const Blueprint& blueprint,
                               const Install& install);

/// Finds the cause in the rules of a refused solve: a dependency that nothing (visible) fulfils,
/// two packages that exclude each other, or a request that kernel and driver rule out. Of several
/// the one nearest to the blueprint. The pool must be filtered as it was for the solve.
[[nodiscard]] Cause find_cause(const Universe& universe, const Blueprint& blueprint,
                               const Jobs& jobs, const Refusal& refusal);

}  // namespace edgegpu
