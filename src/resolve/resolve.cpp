#include "resolve/resolution.hpp"
#include "resolve/universe.hpp"

namespace edgegpu {

Resolution resolve(const Context& ctx, const Blueprint& blueprint) {
    Universe universe(ctx, blueprint);
    const Outcome outcome = solve_blueprint(ctx, universe, blueprint);
    if (!outcome.chosen) {
        throw Error(*outcome.failure);
    }
    return describe_outcome(ctx, universe, outcome);
}

}  // namespace edgegpu
