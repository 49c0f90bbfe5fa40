#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/comps.hpp"
#include "resolve/modules.hpp"
#include "resolve/pool.hpp"
#include "resolve/search.hpp"
#include "resolve/solve.hpp"
#include "support/context.hpp"
#include "support/error.hpp"

namespace edgegpu {

/// Everything the repositories of one blueprint hold, loaded once. Any number of blueprints with
/// the same repositories (enabled or not) can be solved over it: that costs milliseconds.
class Universe {
public:
    /// Loads the enabled repositories of the blueprint. Throws ErrorKind::usage if there is none,
    /// ErrorKind::fetch for metadata that cannot be had.
    Universe(const Context& ctx, const Blueprint& blueprint);

    PackagePool& pool() noexcept { return *pool_; }
    [[nodiscard]] const PackagePool& pool() const noexcept { return *pool_; }
    [[nodiscard]] const ModuleCatalogue& catalogue() const noexcept { return catalogue_; }
    [[nodiscard]] const Comps& comps() const noexcept { return comps_; }

private:
    /// what the metadata point into
    std::vector<Repository> repositories_;
    ModuleCatalogue catalogue_;
    Comps comps_;
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
    /// what was asked for besides kernel and driver
    Jobs jobs;
    std::optional<Chosen> chosen;
    /// without `chosen`: the cause
    std::optional<Error> failure;
    /// without `chosen`: the jobs that the solver refused, if it came to that
    std::optional<Jobs> refused;
};

/// Solves the blueprint over the universe: selects module streams, filters, collects requests,
/// finds kernel and driver. Failures of ErrorKind::unsolvable (and contradictions in the blueprint,
/// ErrorKind::usage) are returned; others are thrown. What happened is noted on ctx.console. The
/// pool stays filtered for this blueprint until the next call.
[[nodiscard]] Outcome solve_blueprint(const Context& ctx, Universe& universe,
                                      const Blueprint& blueprint, const Limits& limits = {});

/// The module streams that the blueprint asks for, [nvidia]'s included.
[[nodiscard]] std::vector<StreamRequest> stream_requests(const Blueprint& blueprint,
                                                         const ModuleCatalogue& catalogue);

/// The packages of a solved outcome, with all that fetching them needs.
[[nodiscard]] Resolution describe_outcome(const Context& ctx, Universe& universe,
                                          const Outcome& outcome);

}  // namespace edgegpu
