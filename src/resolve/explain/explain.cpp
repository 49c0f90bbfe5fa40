#include "resolve/explain/explain.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/gpus.hpp"
#include "resolve/explain/cause.hpp"
#include "resolve/explain/fixes.hpp"
#include "resolve/gpu/dkms.hpp"
#include "resolve/solve/filtered.hpp"

namespace edgegpu {

namespace {

constexpr std::size_t most_filtered = 3;

void say_filtered(const Universe& universe, const Blueprint& blueprint, const std::vector<Id>& ids,
                  Error& failure) {
    const PackagePool& pool = universe.pool();
    for (std::size_t i = 0; i < ids.size() && i < most_filtered; ++i) {
        const std::string why = filtered_because(pool, blueprint, universe.catalogue(), ids[i]);
        if (!why.empty()) {
            failure.traced(fmt::format("{} of repository '{}' exists, but {}",
                                       pool.nevra(ids[i]).text(), pool.solvable(ids[i])->repo->name,
                                       why));
        }
    }
}

/// For the request that matches no visible package: why matching packages are hidden. Of several,
/// the failure says so itself.
void say_unmatched(const Universe& universe, const Blueprint& blueprint, Error& failure) {
    std::vector<const PackageRequest*> unmatched;
    for (const PackageRequest& request : blueprint.packages) {
        if (!request.spec.starts_with('@') && match_spec(universe.pool(), request.spec).empty()) {
            unmatched.push_back(&request);
        }
    }
    if (unmatched.size() == 1) {
        say_filtered(universe, blueprint, hidden_matches(universe.pool(), unmatched.front()->spec),
                     failure);
    }
}

void say_outranked(const Universe& universe, const Blueprint& blueprint, Error& failure) {
    const PackagePool& pool = universe.pool();
    const std::vector<Id> kernels =
        outranked_kernels(pool, blueprint.kernel.name, blueprint.nvidia);
    for (std::size_t i = 0; i < kernels.size() && i < most_filtered; ++i) {
        const Repo* repo = pool.solvable(kernels[i])->repo;
        failure.traced(
            fmt::format("{} of repository '{}' exists, but another repository with kernels has a "
                        "better priority than its {}",
                        pool.nevra(kernels[i]).text(), repo->name, -repo->priority));
    }
}

/// For GPUs that no driver of the repositories drives: what is missing. No change of the blueprint
/// helps then.
void say_missing_branches(const Universe& universe, const Blueprint& blueprint, Error& failure) {
    if (!blueprint.nvidia) {
        return;
    }
    const GpuTable table = shipped_gpus();
    const std::set<unsigned> branches = driver_branches(universe);
    for (const std::string& device : blueprint.nvidia->devices) {
        const Gpu* gpu = table.find(device);
        if (gpu == nullptr || branches.empty() ||
            std::ranges::any_of(branches, [&](unsigned branch) {
                return branch >= gpu->first_branch &&
                       (gpu->last_branch == 0 || branch <= gpu->last_branch);
            })) {
            continue;
        }
        const bool too_old = *branches.rbegin() < gpu->first_branch;
        failure.traced(
            too_old ? fmt::format("no repository here has a driver branch >= {}, the first that "
                                  "drives {}; the newest is {}",
                                  gpu->first_branch, gpu->text(), *branches.rbegin())
                    : fmt::format("no repository here has a driver branch <= {}, the last that "
                                  "drives {}; those here: {}",
                                  gpu->last_branch, gpu->text(), fmt::join(branches, ", ")));
        failure.hinted("add a repository with such a driver in [[repositories]]");
    }
}

std::string fixes_text(const std::vector<Fix>& fixes) {
    std::string text = fixes.size() == 1
                           ? "this change makes the blueprint solvable (it was tried):"
                           : fmt::format(
                                 "any of these {} changes makes the blueprint solvable "
                                 "(each was tried):",
                                 fixes.size());
    for (std::size_t i = 0; i < fixes.size(); ++i) {
        text += fmt::format("\n  {}. gives {}", i + 1, fixes[i].gives);
        for (const Edit& edit : fixes[i].edits) {
            for (const std::string& line : edit_lines(edit)) {
                text += "\n     " + line;
            }
        }
    }
    return text;
}

Error from_cause(const Universe& universe, const Blueprint& blueprint, const Cause& cause) {
    Error failure(ErrorKind::unsolvable, cause.message);
    for (const std::string& line : cause.lines) {
        failure.traced(line);
    }
    say_filtered(universe, blueprint, cause.filtered, failure);
    return failure;
}

/// The original error, with packages that are filtered out. `advice` becomes its hint if nothing
/// was added.
Error from_failure(const Universe& universe, const Blueprint& blueprint, const Error& said,
                   std::string& advice) {
    Error failure = said;
    say_unmatched(universe, blueprint, failure);
    if (blueprint.nvidia && blueprint.nvidia->modules == DriverModules::dkms) {
        say_filtered(universe, blueprint,
                     hidden_build_tools(universe.pool(), blueprint.kernel.name), failure);
    }
    if (failure.traces().size() == said.traces().size()) {
        advice = said.hint();
    }
    say_missing_branches(universe, blueprint, failure);
    say_outranked(universe, blueprint, failure);
    return failure;
}

void append_proof(const Universe& universe, const Blueprint& blueprint, const Outcome& outcome,
                  Error& failure) {
    if (!outcome.refused) {
        failure.traced("no proof: the solver was not run");
        return;
    }
    failure.traced("the solver's proof:");
    const Refusal refusal = refuse(universe.pool(), *outcome.refused, blueprint.weak_dependencies);
    for (const std::string& line : refusal.proof) {
        failure.traced("  " + line);
    }
}

}  // namespace

Error explain(const Context& ctx, Universe& universe, const Blueprint& blueprint,
              const Outcome& outcome, bool proof) {
    const Cause cause = cause_of(universe, blueprint, outcome);
    std::string advice;
    Error failure = cause.message.empty()
                        ? from_failure(universe, blueprint, *outcome.failure, advice)
                        : from_cause(universe, blueprint, cause);
    if (proof) {
        append_proof(universe, blueprint, outcome, failure);
    }
    const std::vector<Fix> fixes = verified_fixes(ctx, universe, blueprint, outcome);
    if (!fixes.empty()) {
        // Verified changes replace the hint, whose information is kept as a trace.
        if (!advice.empty()) {
            failure.traced(advice);
        }
        failure.hinted(fixes_text(fixes));
    }
    return failure;
}

}  // namespace edgegpu
