#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/advisories.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// A kernel, and with [nvidia] a driver version with its kernel modules.
struct Attempt {
    Id kernel = 0;
    std::string driver;
    /// nothing without driver
    std::optional<DriverFlavor> flavor;
    /// Precompiled modules to choose from, or the stand-in of `dkms_source`.
    std::vector<Id> kmods;
    /// The package of sources to compile; 0: the modules are precompiled.
    Id dkms_source = 0;
};

/// A solved attempt.
struct Chosen {
    Attempt attempt;
    /// everything that was asked of the solver
    Jobs jobs;
    Solution solution;
    /// with `attempt.dkms_source`: what it is compiled in
    Solution build_root;
    /// kernels newer than the chosen one, newest first
    std::vector<PassedKernel> passed_kernels;
    /// newer driver versions that have no modules for the chosen kernel, newest first
    std::vector<std::string> passed_drivers;
    /// what the blueprint's policy modules are compiled in; empty where they are plain
    Solution policy_root{};
};

/// What a search came to.
struct SearchResult {
    std::optional<Chosen> chosen;
    /// without `chosen`: the cause
    std::optional<Error> failure;
    /// without `chosen`: the jobs of the best kernel that were refused, if any were tried
    std::optional<Jobs> refused;
    /// without `chosen`: the kernels that have no module of the wanted driver, if that is all
    std::vector<Id> unpaired;
};

/// Finds the newest kernel (and driver) with which the whole blueprint solves, `base` being its
/// other jobs. Solving costs milliseconds, so every pair is tried in earnest instead of being
/// guessed from names. [nvidia] is one of `driver_ways`: `modules` that is "auto" means precompiled
/// ones. Throws ErrorKind::unsolvable where there is nothing to try.
[[nodiscard]] SearchResult find_kernel(const Context& ctx, const Blueprint& blueprint,
                                       const PackagePool& pool, const ModuleSelection& modules,
                                       Jobs base);

}  // namespace edgegpu
