#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/search/search.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// Packages, modules and groups of a blueprint's repositories, loaded once. Solving any number of
/// blueprints with the same repositories (enabled or not) then takes milliseconds each.
class Universe {
public:
    enum class Repositories : std::uint8_t {
        enabled,
        all  ///< also disabled ones, hidden, if their metadata are available
    };
    /// Loads the repositories of the blueprint. With `[parent]`, `installed` are its packages.
    /// Throws ErrorKind::usage if they are not given: not everything can layer. Throws
    /// ErrorKind::usage if none is enabled, ErrorKind::fetch if metadata of an enabled one are not
    /// available.
    Universe(const Context& ctx, const Blueprint& blueprint,
             Repositories which = Repositories::enabled,
             const InstalledPackages* installed = nullptr);

    PackagePool& pool() noexcept { return *pool_; }
    [[nodiscard]] const PackagePool& pool() const noexcept { return *pool_; }
    /// The modules of all loaded repositories.
    [[nodiscard]] const ModuleCatalogue& catalogue() const noexcept { return all_.modules; }
    /// The modules of the repositories that `blueprint` enables; valid as long as the universe.
    [[nodiscard]] const ModuleCatalogue& catalogue(const Blueprint& blueprint) {
        return extras(blueprint).modules;
    }
    /// The groups of the repositories that `blueprint` enables; valid as long as the universe.
    [[nodiscard]] const Comps& comps(const Blueprint& blueprint) { return extras(blueprint).comps; }
    /// The groups of all loaded repositories.
    [[nodiscard]] const Comps& comps() const noexcept { return all_.comps; }

private:
    struct Extras {
        ModuleCatalogue modules;
        Comps comps;
    };
    const Extras& extras(const Blueprint& blueprint);

    /// The metadata point into these.
    std::vector<Repository> repositories_;
    std::string architecture_;
    /// See ModuleCatalogue::platform.
    std::string platform_;
    Extras all_;
    /// For blueprints that do not enable all repositories: ids of enabled ones → their modules and
    /// groups.
    std::map<std::vector<std::string>, Extras> parts_;
    std::unique_ptr<PackagePool> pool_;
};

/// Restrictions of a solve in addition to the blueprint.
struct Limits {
    /// The module documents to choose from; null: those of the universe.
    const ModuleCatalogue* catalogue = nullptr;
    /// Whether a package that passes the filters is visible; empty: all are.
    std::function<bool(Id)> keeps;
};

/// The result of solving a blueprint.
struct Outcome {
    ModuleSelection modules;
    /// Blueprint::kernel_name.
    std::string kernel_name;
    /// The requests except kernel and driver.
    Jobs jobs;
    std::optional<Chosen> chosen;
    /// Without `chosen`: the error.
    std::optional<Error> failure;
    /// Without `chosen`: the jobs that failed to solve, if any.
    std::optional<Jobs> refused;
    /// Without `chosen`: the kernels without a module of the requested driver.
    std::vector<Id> unpaired;
};

/// Solves the blueprint: checks its GPUs, selects module streams, filters the pool, collects
/// requests, finds kernel and driver for the first of `driver_variants` that has a solution, and
/// the packages that compile policy modules (`add_policy_root`). Returns failures of
/// ErrorKind::unsolvable and ErrorKind::usage (contradictions in the blueprint), throws others.
/// Prints notes and warnings on ctx.console. The pool stays filtered for this blueprint until the
/// next call.
[[nodiscard]] Outcome solve_blueprint(const Context& ctx, Universe& universe,
                                      const Blueprint& blueprint, const Limits& limits = {});

/// The module streams that the blueprint requests: `enabled_modules`, that of [nvidia], and
/// "@MODULE…" among its groups. Throws ErrorKind::usage for two streams of a module, naming both
/// locations, and ErrorKind::unsolvable for an ambiguous request.
[[nodiscard]] std::vector<StreamRequest> stream_requests(const Blueprint& blueprint,
                                                         const ModuleCatalogue& catalogue);

/// The resolution of a solved outcome.
[[nodiscard]] Resolution describe_outcome(const Context& ctx, Universe& universe,
                                          const Outcome& outcome);

}  // namespace edgegpu
