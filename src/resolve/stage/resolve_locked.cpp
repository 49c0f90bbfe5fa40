#include "resolve/stage/resolve.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "resolve/gpu/nvidia.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/solve/kernel.hpp"
#include "resolve/solve/requests.hpp"
#include "resolve/stage/drift.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

std::string text_of(const ResolvedModule& module) {
    return fmt::format("{}:{}:{}:{}", module.name, module.stream, module.version, module.context);
}

/// Only the locked module documents (and older versions of the same streams), so that newer
/// documents, other streams and other defaults have no effect.
ModuleCatalogue locked_catalogue(const ModuleCatalogue& all, const Resolution& locked,
                                 Drift& drift) {
    ModuleCatalogue result;
    result.default_profiles = all.default_profiles;
    for (const ResolvedModule& module : locked.modules) {
        const auto found = std::ranges::find_if(all.streams, [&](const ModuleStream& stream) {
            return stream.text() == text_of(module);
        });
        if (found == all.streams.end()) {
            drift.push_back(fmt::format("module {} is in no repository now", text_of(module)));
            continue;
        }
        // Older versions of a stream are active with it.
        std::ranges::copy_if(
            all.streams, std::back_inserter(result.streams),
            [&](const ModuleStream& stream) { return is_part_of(stream, *found); });
        result.defaults[module.name] = module.stream;
    }
    return result;
}

void check_streams(const Blueprint& blueprint, const ModuleCatalogue& all, const Resolution& locked,
                   Drift& drift) {
    for (const StreamRequest& request : stream_requests(blueprint, all)) {
        const auto same = std::ranges::find_if(locked.modules, [&](const ResolvedModule& module) {
            return module.name == request.name;
        });
        if (same == locked.modules.end()) {
            drift.push_back(fmt::format("{} requests module {}:{}, which is not locked",
                                        request.location.text(), request.name, request.stream));
        } else if (same->stream != request.stream) {
            drift.push_back(fmt::format("{} requests module {}:{}, locked is {}:{}",
                                        request.location.text(), request.name, request.stream,
                                        same->name, same->stream));
        }
    }
}

/// Describes why a locked package is not available.
std::string missing(const Universe& universe, const Blueprint& blueprint,
                    const ResolvedPackage& package) {
    const std::string nevra = package.nevra.text();
    const auto repository = std::ranges::find_if(
        blueprint.repositories,
        [&](const Repository& known) { return known.id == package.repository; });
    if (repository == blueprint.repositories.end()) {
        return fmt::format("{} was locked from repository '{}', which the blueprint does not have",
                           nevra, package.repository);
    }
    if (!repository->enabled) {
        return fmt::format("{} was locked from repository '{}', which is disabled", nevra,
                           package.repository);
    }
    const PackagePool& pool = universe.pool();
    std::vector<Id> others = filtered(pool.packages(), [&](Id id) {
        return pool.name(id) == package.nevra.name && pool.nevra(id).arch == package.nevra.arch;
    });
    if (others.empty()) {
        return fmt::format("{} is gone from repository '{}'", nevra, package.repository);
    }
    pool.sort_best_first(others);
    const Id best = others.front();
    return fmt::format("{} is gone from repository '{}'; there is {} in '{}'", nevra,
                       package.repository, pool.nevra(best).text(),
                       pool.solvable(best)->repo->name);
}

/// The locked packages, each found in its repository with the same content.
class LockedPackages {
public:
    LockedPackages(const Universe& universe, const Blueprint& blueprint,
                   const std::vector<ResolvedPackage>& locked, Drift& drift) {
        const PackagePool& pool = universe.pool();
        std::multimap<std::string, Id> places;
        const auto names = mapped_to<std::set<std::string>>(
            locked, [](const ResolvedPackage& package) { return package.nevra.name; });
        for (const Id id : pool.packages()) {
            if (names.contains(pool.name(id))) {
                places.emplace(pool.nevra(id).text() + "@" + pool.solvable(id)->repo->name, id);
            }
        }
        for (const ResolvedPackage& package : locked) {
            const auto [begin, end] =
                places.equal_range(package.nevra.text() + "@" + package.repository);
            if (begin == end) {
                drift.push_back(missing(universe, blueprint, package));
                continue;
            }
            const auto same = std::find_if(begin, end, [&](const auto& place) {
                const ResolvedPackage now = pool.resolved(place.second);
                return now.checksum == package.checksum && now.size == package.size;
            });
            if (same == end) {
                drift.push_back(changed(pool.resolved(begin->second), package));
            } else {
                found_[same->second] = &package;
            }
        }
    }

    [[nodiscard]] bool contains(Id id) const { return found_.contains(id); }
    [[nodiscard]] const std::map<Id, const ResolvedPackage*>& found() const { return found_; }

private:
    static std::string changed(const ResolvedPackage& now, const ResolvedPackage& package) {
        if (now.checksum != package.checksum) {
            return fmt::format("{} is another file in repository '{}' now: {} instead of {}",
                               package.nevra.text(), package.repository, now.checksum.text(),
                               package.checksum.text());
        }
        return fmt::format("{} is said to have {} bytes in repository '{}', locked are {}",
                           package.nevra.text(), now.size, package.repository, package.size);
    }

    std::map<Id, const ResolvedPackage*> found_;
};

/// Finds locked packages that the blueprint's filters hide now.
void check_filters(const PackagePool& pool, const LockedPackages& packages, Drift& drift) {
    for (const auto& [id, package] : packages.found()) {
        if (pool.hidden(id) == Hidden::excluded) {
            drift.push_back(fmt::format("{} is locked, but excludes or includepkgs rule it out",
                                        package->nevra.text()));
        } else if (!pool.visible(id)) {
            drift.push_back(fmt::format("{} is locked, but filtered out: {}", package->nevra.text(),
                                        pool.hidden(id) == Hidden::architecture
                                            ? "it is built for another architecture"
                                            : "it belongs to no enabled module stream"));
        }
    }
}

/// Finds requests that no locked package satisfies. They are matched with all packages, so that
/// those that exist but are not locked are not reported as missing from the repositories.
void check_requests(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                    const ModuleSelection& modules, const LockedPackages& packages, Drift& drift) {
    const PackagePool& pool = universe.pool();
    const Jobs jobs = request_jobs(ctx, blueprint, pool, universe.comps(), modules);
    for (const Install& install : jobs.installs) {
        const bool answered = std::ranges::any_of(
            install.any_of, [&](Id id) { return packages.contains(id) || pool.is_installed(id); });
        if (!answered) {
            drift.push_back(fmt::format("{} is required ({}), but not locked",
                                        pool.name(install.any_of.front()), install.why.text()));
        }
    }
}

/// Checks that all locked packages can be installed together, and that the blueprint needs all of
/// them.
void check_set(const PackagePool& pool, const Blueprint& blueprint, const Chosen& chosen,
               const LockedPackages& packages, Drift& drift) {
    std::vector<Id> all;
    Jobs jobs = chosen.jobs;
    for (const auto& entry : packages.found()) {
        all.push_back(entry.first);
        jobs.installs.push_back({{entry.first}, entry.second->why});
    }
    const Solution solution = solve(pool, jobs, blueprint.weak_dependencies);
    if (!solution.solved) {
        drift.insert(drift.end(), solution.problems.begin(), solution.problems.end());
        return;
    }
    const std::map<Id, Reason> needed = reasons(pool, chosen.jobs, all);
    for (const auto& [id, package] : packages.found()) {
        // A solution of the locked packages alone may omit one of two that satisfy the same
        // dependency. Only packages that no chain reaches are no longer needed; Supplements and
        // rich dependencies are not part of chains.
        const bool weak = package->why.kind == Reason::Kind::weak_dependency ||
                          package->why.kind == Reason::Kind::dependency;
        if (!needed.contains(id) && !chosen.solution.why.contains(id) && !weak) {
            drift.push_back(fmt::format("{} is locked ({}), but nothing requires it any more",
                                        package->nevra.text(), package->why.text()));
        }
    }
}

void check_kernel(const Context& ctx, Universe& universe, const Chosen& chosen,
                  const Resolution& locked, Drift& drift) {
    PackagePool& pool = universe.pool();
    const Id kernel = chosen.attempt.kernel;
    if (pool.nevra(kernel) != locked.kernel ||
        kernel_uname(ctx, pool, kernel) != locked.kernel_uname) {
        drift.push_back(fmt::format("the lockfile says kernel {} ({}), its packages hold {} ({})",
                                    locked.kernel.text(), locked.kernel_uname,
                                    pool.nevra(kernel).text(), kernel_uname(ctx, pool, kernel)));
    }
    if (chosen.attempt.driver != locked.driver_version) {
        drift.push_back(fmt::format("the lockfile says NVIDIA driver '{}', its packages hold '{}'",
                                    locked.driver_version, chosen.attempt.driver));
    }
}

/// Checks that need no solving.
void check_parts(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                 const ModuleCatalogue& catalogue, const LockedPackages& packages, Drift& drift) {
    const ModuleSelection modules =
        select_modules(catalogue, stream_requests(blueprint, catalogue));
    universe.pool().filter(blueprint, modules);
    universe.pool().prepare(ctx, blueprint.packages);
    check_filters(universe.pool(), packages, drift);
    check_requests(ctx, universe, blueprint, modules, packages, drift);
}

/// The locked packages as described by the repositories: locations in the lockfile are not trusted.
std::vector<ResolvedPackage> confirmed(const PackagePool& pool, const LockedPackages& packages) {
    std::vector<ResolvedPackage> result;
    for (const auto& [id, package] : packages.found()) {
        ResolvedPackage now = pool.resolved(id);
        now.module = package->module;
        now.why = package->why;
        result.push_back(std::move(now));
    }
    std::ranges::sort(result,
                      [](const auto& left, const auto& right) { return left.nevra < right.nevra; });
    return result;
}

/// The package with the sources of kernel modules, if there is one.
std::vector<ResolvedPackage> sources_of(const Resolution& locked) {
    return locked.dkms_source ? std::vector<ResolvedPackage>{*locked.dkms_source}
                              : std::vector<ResolvedPackage>{};
}

/// The blueprint with the variant of `driver_variants` that is locked.
Blueprint locked_variant(const Blueprint& blueprint, const ModuleCatalogue& catalogue,
                         const Resolution& locked, Drift& drift) {
    Blueprint result = blueprint;
    if (!blueprint.nvidia) {
        return result;
    }
    const DriverModules modules =
        locked.dkms_source ? DriverModules::dkms : DriverModules::precompiled;
    for (const NvidiaRequest& variant : driver_variants(*blueprint.nvidia, catalogue)) {
        if (variant.modules == modules &&
            (variant.flavor == DriverFlavor::automatic || !locked.driver_flavor ||
             variant.flavor == locked.driver_flavor)) {
            result.nvidia = variant;
            return result;
        }
    }
    drift.push_back(fmt::format("{} rules out the locked {} {} kernel modules",
                                blueprint.nvidia->location.text(), modules,
                                locked.driver_flavor ? enum_name(*locked.driver_flavor) : ""));
    return result;
}

}  // namespace

Resolution resolve_locked(const Context& ctx, const Blueprint& original, const Resolution& locked,
                          const ResolveOptions& options) {
    Universe universe(ctx, original, Universe::Repositories::enabled, options.installed);
    Drift drift;
    const ModuleCatalogue catalogue = locked_catalogue(universe.catalogue(), locked, drift);
    const Blueprint blueprint = locked_variant(original, universe.catalogue(), locked, drift);
    check_streams(blueprint, universe.catalogue(), locked, drift);
    const LockedPackages packages(universe, blueprint, locked.packages, drift);
    const std::vector<ResolvedPackage> source_list = sources_of(locked);
    const LockedPackages sources(universe, blueprint, source_list, drift);
    const LockedPackages build_root(universe, blueprint, locked.build_root, drift);
    const LockedPackages policy_root(universe, blueprint, locked.policy_root, drift);
    stop_at(drift);
    check_parts(ctx, universe, blueprint, catalogue, packages, drift);
    stop_at(drift);
    const Outcome outcome = solve_blueprint(
        ctx, universe, blueprint, {&catalogue, [&](Id id) {
                                       return packages.contains(id) || sources.contains(id) ||
                                              build_root.contains(id) || policy_root.contains(id);
                                   }});
    if (!outcome.chosen) {
        drift.push_back("the locked packages do not satisfy the blueprint: " +
                        outcome.failure->message());
        const auto& traces = outcome.failure->traces();
        drift.insert(drift.end(), traces.begin(), traces.end());
        throw_drift(drift);
    }
    check_set(universe.pool(), blueprint, *outcome.chosen, packages, drift);
    check_kernel(ctx, universe, *outcome.chosen, locked, drift);
    if (!locked.policy_root.empty() && outcome.chosen->policy_root.packages.empty()) {
        drift.emplace_back(
            "packages that compile policy modules are locked, but no module needs "
            "them any more");
    }
    stop_at(drift);
    Resolution result = locked;
    result.packages = confirmed(universe.pool(), packages);
    result.build_root = confirmed(universe.pool(), build_root);
    result.policy_root = confirmed(universe.pool(), policy_root);
    if (locked.dkms_source) {
        result.dkms_source = confirmed(universe.pool(), sources).front();
    }
    return result;
}

}  // namespace edgegpu
