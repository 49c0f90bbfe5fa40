#include "resolve/stage/resolve.hpp"

#include <algorithm>

#include "resolve/explain/explain.hpp"
#include "resolve/search/universe.hpp"

namespace edgegpu {

namespace {

/// Loads disabled repositories, which may have missing packages, to explain a failure.
Error explain_failure(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                      const Outcome& outcome, const ResolveOptions& options) {
    const bool proof = options.proof;
    const bool any_disabled = std::ranges::any_of(
        blueprint.repositories, [](const Repository& repository) { return !repository.enabled; });
    if (!any_disabled) {
        return explain(ctx, universe, blueprint, outcome, proof);
    }
    Console console(Color::never, true);
    Context quiet = ctx;
    quiet.console = &console;
    Universe wide(quiet, blueprint, Universe::Repositories::all, options.installed);
    const Outcome again = solve_blueprint(quiet, wide, blueprint);
    return again.chosen ? explain(ctx, universe, blueprint, outcome, proof)
                        : explain(ctx, wide, blueprint, again, proof);
}

}  // namespace

Resolution resolve(const Context& ctx, const Blueprint& blueprint, const ResolveOptions& options) {
    Universe universe(ctx, blueprint, Universe::Repositories::enabled, options.installed);
    const Outcome outcome = solve_blueprint(ctx, universe, blueprint);
    if (!outcome.chosen) {
        throw explain_failure(ctx, universe, blueprint, outcome, options);
    }
    return describe_outcome(ctx, universe, outcome);
}

}  // namespace edgegpu
