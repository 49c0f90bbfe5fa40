#include "resolve/stage/explain_package.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "resolve/explain/cause.hpp"
#include "resolve/explain/chain.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/solve/filtered.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

bool depends_on(const PackagePool& pool, Id from, Id key, Id on) {
    IdQueue dependencies;
    lookup_ids(pool.solvable(from), key, dependencies);
    return std::ranges::any_of(dependencies, [&](Id dependency) {
        if (dependency == SOLVABLE_PREREQMARKER) {
            return false;
        }
        const std::vector<Id> providers = all_providers(pool, dependency);
        return std::ranges::find(providers, on) != providers.end();
    });
}

/// Sorted names of packages of the image with a dependency of kind `key` on `on`.
std::vector<std::string> dependents(const PackagePool& pool, const std::vector<Id>& image, Id key,
                                    Id on) {
    std::set<std::string> names;
    for (const Id id : image) {
        if (id != on && depends_on(pool, id, key, on)) {
            names.insert(pool.name(id));
        }
    }
    return {names.begin(), names.end()};
}

class PackageQuestion {
public:
    PackageQuestion(const Universe& universe, const Blueprint& blueprint, const Outcome& outcome,
                    const std::string& spec)
        : universe_(universe),
          pool_(universe.pool()),
          blueprint_(blueprint),
          chosen_(*outcome.chosen),
          spec_(spec),
          chains_(pool_, chosen_.jobs, chosen_.solution.packages) {}

    PackageAnswer run() {
        PackageAnswer answer;
        const std::vector<Id> found = match_spec(pool_, spec_);
        std::vector<Id> absent;
        for (const Id id : found) {
            if (pool_.is_installed(id)) {
                answer.installed.push_back(of_parent(id));
            } else if (in_image(id)) {
                answer.installed.push_back(reason(id));
            } else if (!pool_.is_stand_in(id)) {
                absent.push_back(id);
            }
        }
        if (answer.installed.empty()) {
            absent_reasons(absent, answer.kept_out);
            filtered_reasons(answer.kept_out);
        }
        return answer;
    }

private:
    [[nodiscard]] bool in_image(Id id) const {
        return std::ranges::binary_search(chosen_.solution.packages, id);
    }

    [[nodiscard]] PackageReason of_parent(Id id) const {
        PackageReason result;
        result.package.nevra = pool_.nevra(id);
        result.package.repository = pool_.installed()->name;
        result.package.why = why(id);
        if (!matches_package(pool_, id, spec_)) {
            result.provides = spec_;
        }
        result.origin = fmt::format("{} [parent]", blueprint_.parent->location.text());
        result.required_by = dependents(pool_, everything(), SOLVABLE_REQUIRES, id);
        return result;
    }

    /// Why a package is in the image.
    [[nodiscard]] Reason why(Id id) const {
        return pool_.is_installed(id) ? Reason{Reason::Kind::of_parent}
                                      : chosen_.solution.why.at(id);
    }

    /// The packages of the image, those of its parent included.
    [[nodiscard]] std::vector<Id> everything() const {
        std::vector<Id> all = chosen_.solution.packages;
        std::ranges::copy_if(pool_.packages(), std::back_inserter(all),
                             [&](Id id) { return pool_.is_installed(id); });
        return all;
    }

    [[nodiscard]] PackageReason reason(Id id) const {
        PackageReason result;
        // There is no package of compiled modules yet: the one with their sources represents it.
        result.package = pool_.resolved(pool_.is_stand_in(id) ? chosen_.attempt.dkms_source : id);
        result.package.why = chosen_.solution.why.at(id);
        if (!matches_package(pool_, id, spec_)) {
            result.provides = spec_;
        }
        result.required_by = dependents(pool_, everything(), SOLVABLE_REQUIRES, id);
        const std::optional<Chain> chain = chains_.to(id);
        if (!chain) {
            result.origin = chosen_.solution.why.at(id).text();
            return result;
        }
        result.origin = origin_of(pool_, blueprint_, *chain->install).text;
        for (const Link& link : chain->links) {
            result.chain.push_back(fmt::format("{} {} {}", pool_.nevra(link.package).text(),
                                               link.weak ? "recommends" : "requires",
                                               pool_dep2str(pool_.get(), link.dependency)));
        }
        return result;
    }

    /// Why visible packages are not in the image.
    void absent_reasons(std::vector<Id> absent, std::vector<std::string>& lines) const {
        if (absent.empty()) {
            return;
        }
        pool_.sort_best_first(absent);
        const Id best = absent.front();
        const std::string nevra = pool_.nevra(best).text();
        if (best == chosen_.attempt.dkms_source) {
            lines.push_back(
                fmt::format("{} is what the kernel modules of the image are compiled from", nevra));
            return;
        }
        if (std::ranges::binary_search(chosen_.build_root.packages, best)) {
            lines.push_back(fmt::format("{} is only where kernel modules are compiled ({})", nevra,
                                        chosen_.build_root.why.at(best).text()));
        }
        if (std::ranges::binary_search(chosen_.policy_root.packages, best)) {
            lines.push_back(fmt::format("{} is only where policy modules are compiled ({})", nevra,
                                        chosen_.policy_root.why.at(best).text()));
        }
        for (const Id id : everything()) {
            if (pool_.name(id) == pool_.name(best)) {
                lines.push_back(fmt::format("{} is in the image in its place ({})",
                                            pool_.nevra(id).text(), why(id).text()));
            }
        }
        Jobs jobs = chosen_.jobs;
        jobs.installs.push_back({absent, {Reason::Kind::asked_about}});
        if (solve(pool_, jobs, blueprint_.weak_dependencies).solved) {
            lines.push_back(
                fmt::format("{} could be installed, but nothing in the image needs it", nevra));
            const std::vector<std::string> recommending =
                dependents(pool_, chosen_.solution.packages, SOLVABLE_RECOMMENDS, best);
            if (!recommending.empty() && !blueprint_.weak_dependencies) {
                lines.push_back(fmt::format("it is recommended by {}, but weak_dependencies is off",
                                            fmt::join(recommending, ", ")));
            }
            return;
        }
        const Cause cause = find_cause(universe_, blueprint_, jobs,
                                       refuse(pool_, jobs, blueprint_.weak_dependencies));
        lines.push_back(fmt::format("{} cannot be installed: {}", nevra, cause.message));
        for (const std::string& line : cause.lines) {
            lines.push_back("  " + line);
        }
    }

    void filtered_reasons(std::vector<std::string>& lines) const {
        constexpr std::size_t most = 5;
        const std::vector<Id> hidden = hidden_matches(pool_, spec_);
        for (std::size_t i = 0; i < hidden.size() && i < most; ++i) {
            lines.push_back(
                fmt::format("{} of repository '{}' is filtered out: {}",
                            pool_.nevra(hidden[i]).text(), pool_.solvable(hidden[i])->repo->name,
                            filtered_because(pool_, blueprint_, universe_.catalogue(), hidden[i])));
        }
        if (hidden.size() > most) {
            lines.push_back(fmt::format("and {} more", hidden.size() - most));
        }
    }

    const Universe& universe_;
    const PackagePool& pool_;
    const Blueprint& blueprint_;
    const Chosen& chosen_;
    const std::string& spec_;
    Chains chains_;
};

Error unknown(const PackagePool& pool, const std::string& spec) {
    auto names =
        mapped_to<std::set<std::string>>(pool.packages(), [&](Id id) { return pool.name(id); });
    Error failure = error("no repository has a package '{}'", spec);
    const std::vector<std::string> near = nearest_names(spec, {names.begin(), names.end()}, 3);
    if (!near.empty()) {
        failure.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
    }
    return failure;
}

}  // namespace

PackageAnswer why_package(const Context& ctx, const Blueprint& blueprint, const std::string& spec,
                          const ResolveOptions& options) {
    const auto ask = [&](Universe::Repositories which) {
        Universe universe(ctx, blueprint, which, options.installed);
        const Outcome outcome = solve_blueprint(ctx, universe, blueprint);
        if (!outcome.chosen) {
            // Throws an explanation of why the blueprint has no solution.
            (void)resolve(ctx, blueprint, options);
            throw Error(*outcome.failure);
        }
        return PackageQuestion(universe, blueprint, outcome, spec).run();
    };
    PackageAnswer answer = ask(Universe::Repositories::enabled);
    if (!answer.installed.empty()) {
        return answer;
    }
    // Disabled repositories, which may have it, are only loaded for this.
    answer = ask(Universe::Repositories::all);
    if (answer.kept_out.empty()) {
        throw unknown(
            Universe(ctx, blueprint, Universe::Repositories::all, options.installed).pool(), spec);
    }
    return answer;
}

}  // namespace edgegpu
