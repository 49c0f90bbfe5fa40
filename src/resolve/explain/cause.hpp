#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// The line of the blueprint that causes a job.
struct Origin {
    enum class Kind : std::uint8_t {
        package,  ///< blueprint.packages[index]
        group,    ///< blueprint.groups[index]
        module,   ///< blueprint.modules[index]
        set,      ///< the package set of the distribution
        nvidia,   ///< [nvidia] driver
        toolkit,  ///< [nvidia] toolkit
        kernel    ///< the image's kernel ([nvidia] kernel, if set)
    };
    Kind kind = Kind::kernel;
    std::size_t index = 0;
    SourceLocation location;
    /// "FILE:9:5 requests app-1.*"
    std::string text;
};

/// Why the packages cannot be installed together.
struct Cause {
    std::string message;
    /// The chains of dependencies, each beginning with a line of the blueprint.
    std::vector<std::string> lines;
    /// The requests at which the chains begin.
    std::vector<Origin> origins;
    /// The packages of the chains, in order.
    std::vector<Id> packages;
    /// Packages that would satisfy the dependency but are filtered out, best first.
    std::vector<Id> filtered;
};

/// The line of the blueprint that causes an install job.
[[nodiscard]] Origin origin_of(const PackagePool& pool, const Blueprint& blueprint,
                               const Install& install);

/// Finds the cause in the rules of a failed solve: a dependency that no visible package provides,
/// else two packages that conflict, else a request that kernel and driver rule out; of several the
/// one with the shortest chain. An empty message if none is found. The pool must be filtered as it
/// was for the solve.
[[nodiscard]] Cause find_cause(const Universe& universe, const Blueprint& blueprint,
                               const Jobs& jobs, const Refusal& refusal);

}  // namespace edgegpu
