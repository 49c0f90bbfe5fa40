#pragma once

#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/solve/advisories.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// A kernel, and with [nvidia] a driver version with its kernel modules.
struct Attempt {
    Id kernel = 0;
    std::string driver;
    /// Nothing without driver.
    std::optional<DriverFlavor> flavor;
    /// Precompiled modules to choose from, or the stand-in of `dkms_source`.
    std::vector<Id> kmods;
    /// The package with the sources to compile; 0: the modules are precompiled.
    Id dkms_source = 0;
};

/// A driver version that was not chosen, and why.
struct PassedDriver {
    std::string version;
    std::string reason;
};

/// A solved attempt.
struct Chosen {
    Attempt attempt;
    /// All jobs of the solve.
    Jobs jobs;
    Solution solution;
    /// With `attempt.dkms_source`: the root in which it is compiled.
    Solution build_root;
    /// Kernels newer than the chosen one, newest first.
    std::vector<PassedKernel> passed_kernels;
    /// Newer driver versions that were not chosen, newest first.
    std::vector<PassedDriver> passed_drivers;
    /// The root in which the blueprint's policy modules are compiled; empty if they use no macros.
    Solution policy_root{};
};

/// The result of a search.
struct SearchResult {
    std::optional<Chosen> chosen;
    /// Without `chosen`: the error.
    std::optional<Error> failure;
    /// Without `chosen`: the jobs of the first attempt that failed to solve, if any.
    std::optional<Jobs> refused;
    /// Without `chosen`: the kernels without a module of the requested driver.
    std::vector<Id> unpaired;
};

/// Finds the newest kernel (and driver) with which the whole blueprint can be solved; `base` are
/// its other jobs. Solving takes milliseconds, so every pair is actually solved instead of guessed
/// from names. [nvidia] must be one of `driver_variants`; automatic `modules` are taken as
/// precompiled. Throws ErrorKind::unsolvable if there is nothing to try.
[[nodiscard]] SearchResult find_kernel(const Context& ctx, const Blueprint& blueprint,
                                       const PackagePool& pool, const ModuleSelection& modules,
                                       Jobs base);

}  // namespace edgegpu
