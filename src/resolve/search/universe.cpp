#include "resolve/search/universe.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "gpu/gpus.hpp"
#include "resolve/gpu/devices.hpp"
#include "resolve/gpu/kmp_name.hpp"
#include "resolve/gpu/nvidia.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/metadata_file.hpp"
#include "resolve/modules/modules_lost.hpp"
#include "resolve/search/policy_root.hpp"
#include "resolve/solve/advisories.hpp"
#include "resolve/solve/kernel.hpp"
#include "resolve/solve/requests.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

/// Checks invariants of the solution instead of relying on the solver.
void check_chosen(const PackagePool& pool, const Chosen& chosen) {
    for (const Id id : chosen.solution.packages) {
        if (id != chosen.attempt.kernel && is_kernel(pool, id)) {
            throw error(ErrorKind::unsolvable, "two kernels would be installed: {} and {}",
                        pool.nevra(chosen.attempt.kernel).text(), pool.nevra(id).text());
        }
        const std::string name = pool.name(id);
        const bool driver = name == "nvidia-driver" || name == "nvidia-driver-cuda" ||
                            name == "nvidia-kmod-common" || !generation_of(name).empty();
        if (driver && !chosen.attempt.driver.empty() &&
            driver_of_kmp(pool.version(id)) != chosen.attempt.driver) {
            throw error(ErrorKind::unsolvable,
                        "{} does not have the version {} of the kernel module",
                        pool.nevra(id).text(), chosen.attempt.driver);
        }
    }
}

/// Checks that no lost module document may have changed the solution.
void check_lost(const PackagePool& pool, const ModuleCatalogue& catalogue,
                const ModuleSelection& modules, const Chosen& chosen) {
    if (catalogue.lost.empty()) {
        return;
    }
    const std::vector<std::pair<std::string, std::string>> packages =
        mapped(chosen.solution.packages, [&](Id id) -> std::pair<std::string, std::string> {
            return {pool.name(id), pool.nevra_with_epoch(id)};
        });
    refuse_changed_by_loss(catalogue, modules, packages);
}

/// Notes requested packages that the parent has already: they are not updated.
void note_kept(const Context& ctx, const PackagePool& pool, const Jobs& jobs) {
    for (const Install& install : jobs.installs) {
        if (install.why.kind != Reason::Kind::requested) {
            continue;
        }
        for (const Id id : install.any_of) {
            if (pool.is_installed(id)) {
                ctx.console->note(
                    fmt::format("the parent has {}, which stays as it is", pool.nevra(id).text()));
            }
        }
    }
}

/// Notes requested packages that are not the newest available, which dnf does silently.
void note_older(const Context& ctx, const PackagePool& pool, const Jobs& jobs,
                const Solution& solution) {
    for (const Install& install : jobs.installs) {
        const auto taken = std::ranges::find_if(install.any_of, [&](Id id) {
            return std::ranges::binary_search(solution.packages, id);
        });
        if (install.why.kind != Reason::Kind::requested || taken == install.any_of.end()) {
            continue;
        }
        std::vector<Id> same = install.any_of;
        std::erase_if(same, [&](Id id) {
            return pool.solvable(id)->name != pool.solvable(*taken)->name ||
                   pool.solvable(id)->arch != pool.solvable(*taken)->arch;
        });
        pool.sort_best_first(same);
        if (pool.solvable(same.front())->evr != pool.solvable(*taken)->evr &&
            !is_kernel(pool, *taken)) {
            ctx.console->note(fmt::format("{} is available, but {} is taken",
                                          pool.nevra(same.front()).text(),
                                          pool.nevra(*taken).text()));
        }
    }
}

Comps read_comps(const std::vector<RepositoryMetadata>& metadata) {
    Comps comps;
    for (const RepositoryMetadata& repository : metadata) {
        if (!repository.comps.empty()) {
            add_comps(comps,
                      read_metadata_file(repository.resolved.id, repository.comps,
                                         repository.open_size(MetadataKind::comps)),
                      repository.resolved.id);
        }
    }
    return comps;
}

/// Prints warnings about module documents, and the first few lost ones.
void warn_lost(const Context& ctx, const ModuleCatalogue& catalogue) {
    constexpr std::size_t most = 5;
    for (const std::string& warning : catalogue.warnings) {
        ctx.console->warn(warning);
    }
    for (std::size_t i = 0; i < catalogue.lost.size() && i < most; ++i) {
        ctx.console->warn("left out: " + catalogue.lost[i].text());
    }
    if (catalogue.lost.size() > most) {
        ctx.console->warn(
            fmt::format("left out: {} more module documents", catalogue.lost.size() - most));
    }
}

/// Whether a request may be a group: "@m:1" and "@m/p" are modules.
bool asks_for_groups(const Blueprint& blueprint) {
    const auto may_be_one = [](const PackageRequest& request) {
        return request.spec.find_first_of(":/") == std::string::npos;
    };
    return std::ranges::any_of(blueprint.groups, may_be_one) ||
           std::ranges::any_of(blueprint.packages, [&](const PackageRequest& request) {
               return request.spec.starts_with('@') && may_be_one(request);
           });
}

/// Loads the groups of all repositories. Failures are warnings for disabled repositories, whose
/// groups only help to explain a failure, and, as in dnf, for groups in an unsupported format.
void load_groups(const Context& ctx, std::vector<RepositoryMetadata>& metadata) {
    for (RepositoryMetadata& repository : metadata) {
        const bool refused = repository.records.refused.contains(MetadataKind::comps);
        try {
            load_comps(ctx, repository);
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::interrupted ||
                (repository.repository->enabled && !refused)) {
                throw;
            }
            ctx.console->warn(problem.message());
        }
    }
}

/// A subscription may list hundreds of disabled repositories: beyond this number only cached
/// metadata are used.
constexpr std::size_t most_downloads = 8;

void add_disabled(const Context& ctx, const std::vector<Repository>& repositories,
                  std::vector<RepositoryMetadata>& metadata) {
    std::size_t seen = 0;
    for (const Repository& repository : repositories) {
        if (repository.enabled) {
            continue;
        }
        Context careful = ctx;
        careful.offline = ctx.offline || ++seen > most_downloads;
        std::vector<Repository> alone{repository};
        alone.front().enabled = true;
        try {
            std::ranges::move(load_metadata(careful, alone), std::back_inserter(metadata));
        } catch (const Error& problem) {
            if (problem.kind() == ErrorKind::interrupted) {
                throw;
            }
            ctx.console->note(fmt::format("disabled repository '{}' is not considered: {}",
                                          repository.id, problem.message()));
        }
    }
}

}  // namespace

Universe::Universe(const Context& ctx, const Blueprint& blueprint, Repositories which,
                   const InstalledPackages* installed)
    : repositories_(blueprint.repositories), architecture_(blueprint.architecture) {
    if (blueprint.parent && installed == nullptr) {
        throw error("{}: a package of the parent may satisfy the blueprint, and they are unknown",
                    blueprint.parent->location.text());
    }
    std::vector<RepositoryMetadata> metadata = load_metadata(ctx, blueprint.repositories);
    if (metadata.empty()) {
        throw error(ErrorKind::usage, "{}: no repository is enabled", blueprint.path.string())
            .hinted("add a [[repositories]] block");
    }
    if (which == Repositories::all) {
        add_disabled(ctx, blueprint.repositories, metadata);
    }
    // The metadata outlive the blueprint for which they were loaded.
    for (RepositoryMetadata& loaded : metadata) {
        loaded.repository = &*std::ranges::find_if(
            repositories_, [&](const auto& own) { return own.id == loaded.resolved.id; });
    }
    all_.modules = read_modules(metadata, architecture_);
    platform_ = platform_of(blueprint.distro);
    all_.modules.platform = platform_;
    warn_lost(ctx, all_.modules);
    if (asks_for_groups(blueprint)) {
        load_groups(ctx, metadata);
    }
    all_.comps = read_comps(metadata);
    pool_ = std::make_unique<PackagePool>(ctx, std::move(metadata), architecture_, installed);
}

const Universe::Extras& Universe::extras(const Blueprint& blueprint) {
    std::vector<std::string> ids;
    std::vector<RepositoryMetadata> enabled;
    for (const RepositoryMetadata& metadata : pool_->repositories()) {
        const bool on = std::ranges::any_of(blueprint.repositories, [&](const auto& known) {
            return known.id == metadata.resolved.id && known.enabled;
        });
        if (on) {
            ids.push_back(metadata.resolved.id);
            enabled.push_back(metadata);
        }
    }
    if (enabled.size() == pool_->repositories().size()) {
        return all_;
    }
    const auto known = parts_.find(ids);
    if (known != parts_.end()) {
        return known->second;
    }
    Extras part{read_modules(enabled, architecture_), read_comps(enabled)};
    part.modules.platform = platform_;
    return parts_[ids] = std::move(part);
}

namespace {

/// Shows all packages of the blueprint's repositories regardless of modules, to explain failures
/// that happen before streams are selected.
void show_all(const Context& ctx, PackagePool& pool, const Blueprint& blueprint) {
    pool.filter(blueprint, {});
    pool.prepare(ctx, blueprint.packages);
}

/// Filters the pool for a blueprint and a selection of streams.
void show(const Context& ctx, PackagePool& pool, const Blueprint& blueprint,
          const ModuleSelection& modules, const Limits& limits) {
    pool.filter(blueprint, modules);
    if (limits.keeps) {
        pool.limit(limits.keeps);
    }
    pool.prepare(ctx, blueprint.packages);
}

/// Solves a blueprint whose [nvidia], if present, is one of `driver_variants`.
Outcome solve_variant(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                      const ModuleCatalogue& catalogue, const Limits& limits) {
    PackagePool& pool = universe.pool();
    Outcome outcome;
    try {
        try {
            outcome.modules = select_modules(catalogue, stream_requests(blueprint, catalogue));
        } catch (const Error&) {
            show_all(ctx, pool, blueprint);
            throw;
        }
        show(ctx, pool, blueprint, outcome.modules, limits);
        outcome.kernel_name = blueprint.kernel.name;
        outcome.jobs =
            request_jobs(ctx, blueprint, pool, universe.comps(blueprint), outcome.modules);
        SearchResult found = find_kernel(ctx, blueprint, pool, outcome.modules, outcome.jobs);
        outcome.failure = std::move(found.failure);
        outcome.refused = std::move(found.refused);
        outcome.unpaired = std::move(found.unpaired);
        if (found.chosen) {
            check_chosen(pool, *found.chosen);
            check_lost(pool, catalogue, outcome.modules, *found.chosen);
            if (blueprint.nvidia) {
                // For "latest" the branch is only known now.
                (void)check_devices(*blueprint.nvidia, shipped_gpus(), found.chosen->attempt.driver,
                                    false);
            }
            outcome.chosen = std::move(found.chosen);
        }
    } catch (const Error& problem) {
        if (problem.kind() != ErrorKind::unsolvable && problem.kind() != ErrorKind::usage) {
            throw;
        }
        outcome.failure = problem;
    }
    if (outcome.chosen) {
        note_older(ctx, pool, outcome.jobs, outcome.chosen->solution);
        note_kept(ctx, pool, outcome.jobs);
    }
    return outcome;
}

/// Tries the variants in order. If none has a solution, returns the failure of the first that got
/// as far as solving, the one that the user most likely expects; else of the first.
Outcome solve_variants(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                       const std::vector<NvidiaRequest>& variants, const ModuleCatalogue& catalogue,
                       const Limits& limits) {
    std::optional<Outcome> told;
    for (const NvidiaRequest& request : variants) {
        Blueprint variant = blueprint;
        variant.nvidia = request;
        Outcome outcome = solve_variant(ctx, universe, variant, catalogue, limits);
        if (outcome.chosen || variants.size() == 1) {
            return outcome;
        }
        if (!told || (!told->refused && outcome.refused)) {
            told = std::move(outcome);
        }
    }
    // The pool is still filtered for the last variant.
    show(ctx, universe.pool(), blueprint, told->modules, limits);
    return std::move(*told);
}

ResolvedPackage describe_package(const PackagePool& pool, const ModuleSelection& modules, Id id,
                                 const Reason& why) {
    ResolvedPackage package = pool.resolved(id);
    const auto artifact = modules.included.find(pool.nevra_with_epoch(id));
    package.module = artifact != modules.included.end() ? artifact->second : "";
    package.why = why;
    return package;
}

std::vector<ResolvedPackage> describe_packages(const PackagePool& pool,
                                               const ModuleSelection& modules,
                                               const Solution& solution) {
    std::vector<ResolvedPackage> packages = mapped_if(
        solution.packages, [&](Id id) { return !pool.is_stand_in(id); },
        [&](Id id) { return describe_package(pool, modules, id, solution.why.at(id)); });
    std::ranges::sort(packages, [](const ResolvedPackage& left, const ResolvedPackage& right) {
        return left.nevra < right.nevra;
    });
    return packages;
}

/// Packages, kernel and driver of the image.
Outcome solve_image(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                    const Limits& limits) {
    const ModuleCatalogue& catalogue =
        limits.catalogue != nullptr ? *limits.catalogue : universe.catalogue(blueprint);
    if (!blueprint.nvidia) {
        return solve_variant(ctx, universe, blueprint, catalogue, limits);
    }
    NvidiaRequest request = *blueprint.nvidia;
    if (!request.devices.empty()) {
        try {
            const DeviceVerdict verdict =
                check_devices(request, shipped_gpus(), request.driver, false);
            request.flavor = verdict.flavor;
            for (const std::string& warning : verdict.warnings) {
                ctx.console->warn(warning);
            }
        } catch (const Error& problem) {
            show_all(ctx, universe.pool(), blueprint);
            Outcome refused;
            refused.failure = problem;
            return refused;
        }
    }
    if (is_suse(blueprint.distro)) {
        // The KMPs say which modules there are.
        request.modules = DriverModules::precompiled;
        return solve_variants(ctx, universe, blueprint, {request}, catalogue, limits);
    }
    return solve_variants(ctx, universe, blueprint, driver_variants(request, catalogue), catalogue,
                          limits);
}

}  // namespace

Outcome solve_blueprint(const Context& ctx, Universe& universe, const Blueprint& blueprint,
                        const Limits& limits) {
    Outcome outcome = solve_image(ctx, universe, blueprint, limits);
    add_policy_root(universe, blueprint.selinux.modules, outcome);
    return outcome;
}

Resolution describe_outcome(const Context& ctx, Universe& universe, const Outcome& outcome) {
    PackagePool& pool = universe.pool();
    const ModuleSelection& modules = outcome.modules;
    const Chosen& chosen = *outcome.chosen;
    Resolution result;
    result.packages = describe_packages(pool, modules, chosen.solution);
    for (const ModuleStream& stream : modules.enabled) {
        result.modules.push_back(stream.id);
    }
    for (const RepositoryMetadata& metadata : pool.repositories()) {
        result.repositories.push_back(metadata.resolved);
    }
    std::ranges::sort(result.repositories,
                      [](const auto& left, const auto& right) { return left.id < right.id; });
    result.kernel = pool.nevra(chosen.attempt.kernel);
    result.kernel_uname = kernel_uname(ctx, pool, chosen.attempt.kernel);
    result.driver_version = chosen.attempt.driver;
    result.driver_flavor = chosen.attempt.flavor;
    if (const Id source = chosen.attempt.dkms_source; source != 0) {
        result.dkms_source = describe_package(pool, modules, source, {Reason::Kind::module_source});
        result.build_root = describe_packages(pool, modules, chosen.build_root);
    }
    result.policy_root = describe_packages(pool, modules, chosen.policy_root);
    result.passed_over = describe_passed(ctx, pool, outcome.kernel_name, chosen.attempt.kernel,
                                         chosen.passed_kernels);
    for (const PassedDriver& driver : chosen.passed_drivers) {
        result.passed_over.push_back(
            {fmt::format("nvidia driver {}", driver.version), driver.reason, {}});
    }
    result.advisories = fixed_advisories(ctx, pool, result.packages);
    return result;
}

}  // namespace edgegpu
