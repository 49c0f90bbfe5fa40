#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/metadata/comps.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/search/search.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// Everything the repositories of one blueprint hold, loaded once. Any number of blueprints with
/// the same repositories (enabled or not) can be solved over it: that costs milliseconds.
class Universe {
public:
    enum class Repositories : std::uint8_t {
        enabled,
        all  ///< disabled ones too, hidden, as far as their metadata can be had
    };
    /// Loads the repositories of the blueprint. Throws ErrorKind::usage if none is enabled,
    /// ErrorKind::fetch for metadata of an enabled one that cannot be had.
    Universe(const Context& ctx, const Blueprint& blueprint,
             Repositories which = Repositories::enabled);

    PackagePool& pool() noexcept { return *pool_; }
    [[nodiscard]] const PackagePool& pool() const noexcept { return *pool_; }
    /// The modules of all loaded repositories.
    [[nodiscard]] const ModuleCatalogue& catalogue() const noexcept { return all_.modules; }
    /// The modules and groups of those that `blueprint` enables; lives as long as the universe.
    [[nodiscard]] const ModuleCatalogue& catalogue(const Blueprint& blueprint) {
        return extras(blueprint).modules;
    }
    [[nodiscard]] const Comps& comps(const Blueprint& blueprint) { return extras(blueprint).comps; }
    /// The groups of all loaded repositories.
    [[nodiscard]] const Comps& comps() const noexcept { return all_.comps; }

private:
    struct Extras {
        ModuleCatalogue modules;
        Comps comps;
    };
    const Extras& extras(const Blueprint& blueprint);

    /// what the metadata point into
    std::vector<Repository> repositories_;
    std::string architecture_;
    /// see ModuleCatalogue::platform
    std::string platform_;
    Extras all_;
    /// where not all repositories are enabled: ids of those that are → what they have
    std::map<std::vector<std::string>, Extras> parts_;
    std::unique_ptr<PackagePool> pool_;
};

/// What a solve may take besides what the blueprint rules.
struct Limits {
    /// The module documents to choose from; empty: those of the universe.
    const ModuleCatalogue* catalogue = nullptr;
    /// Packages that may be seen; empty: all. Asked after the filters.
    std::function<bool(Id)> keeps;
};

/// What came of one attempt to solve a blueprint.
struct Outcome {
    ModuleSelection modules;
    /// the blueprint's
    std::string kernel_name;
    /// what was asked for besides kernel and driver
    Jobs jobs;
    std::optional<Chosen> chosen;
    /// without `chosen`: the cause
    std::optional<Error> failure;
    /// without `chosen`: the jobs that the solver refused, if it came to that
    std::optional<Jobs> refused;
    /// without `chosen`: the kernels that have no module of the wanted driver, if that is all
    std::vector<Id> unpaired;
};

/// Solves the blueprint over the universe: checks its GPUs, selects module streams, filters,
/// collects requests, finds kernel and driver, trying `driver_ways` one after the other, and what
/// compiles policy modules (`add_policy_root`). Failures
/// of ErrorKind::unsolvable (and contradictions in the blueprint, ErrorKind::usage) are returned;
/// others are thrown. What happened is noted on ctx.console. The pool stays filtered for this
/// blueprint until the next call.
[[nodiscard]] Outcome solve_blueprint(const Context& ctx, Universe& universe,
                                      const Blueprint& blueprint, const Limits& limits = {});

/// The module streams that the blueprint asks for: those of `enabled_modules`, [nvidia]'s, and what
/// "@MODULE…" means among its groups. Throws ErrorKind::usage for two streams of a module, naming
/// both places, and ErrorKind::unsolvable where a request leaves open which stream is meant.
[[nodiscard]] std::vector<StreamRequest> stream_requests(const Blueprint& blueprint,
                                                         const ModuleCatalogue& catalogue);

/// The packages of a solved outcome, with all that fetching them needs.
[[nodiscard]] Resolution describe_outcome(const Context& ctx, Universe& universe,
                                          const Outcome& outcome);

}  // namespace edgegpu
