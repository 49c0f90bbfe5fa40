#include <algorithm>
#include <map>
#include <optional>

#include "resolve/comps.hpp"
#include "resolve/kernel.hpp"
#include "resolve/metadata.hpp"
#include "resolve/modules.hpp"
#include "resolve/nvidia.hpp"
#include "resolve/pool.hpp"
#include "resolve/requests.hpp"
#include "resolve/resolution.hpp"
#include "resolve/solve.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

Error unsolvable(const Blueprint& blueprint, const std::string& what,
                 const std::vector<std::string>& problems) {
    constexpr std::size_t most = 12;
    Error failure(ErrorKind::unsolvable, what);
    for (std::size_t i = 0; i < problems.size() && i < most; ++i) {
        failure.traced(problems[i]);
    }
    if (problems.size() > most) {
        failure.traced(fmt::format("and {} more", problems.size() - most));
    }
    failure.traced(fmt::format("while resolving {}", blueprint.path.string()));
    return failure;
}

std::vector<StreamRequest> stream_requests(const Blueprint& blueprint,
                                           const ModuleCatalogue& catalogue) {
    std::vector<StreamRequest> requests;
    for (const ModuleRequest& module : blueprint.modules) {
        const auto preset = catalogue.defaults.find(module.name);
        const std::string stream = module.stream.empty() && preset != catalogue.defaults.end()
                                       ? preset->second
                                       : module.stream;
        requests.push_back({module.name, stream, "", module.location});
    }
    if (!blueprint.nvidia) {
        return requests;
    }
    const std::optional<StreamRequest> driver = driver_stream(*blueprint.nvidia, catalogue);
    if (!driver) {
        return requests;
    }
    for (StreamRequest& request : requests) {
        if (request.name != driver->name) {
            continue;
        }
        if (request.stream != driver->stream) {
            throw error(
                ErrorKind::usage, "{}: module {}:{} contradicts [nvidia], which needs {}:{}",
                request.location.text(), request.name, request.stream, driver->name, driver->stream)
                .hinted("leave the module out: [nvidia] enables it");
        }
        request.version = driver->version;
        return requests;
    }
    requests.push_back(*driver);
    return requests;
}

/// A kernel, and with [nvidia] a driver version with its kernel modules.
struct Attempt {
    Id kernel = 0;
    std::string driver;
    std::vector<Id> kmods;
};

/// A solved attempt.
struct Chosen {
    Attempt attempt;
    Solution solution;
};

/// Finds the newest kernel (and driver) with which the whole blueprint solves. Solving costs
/// milliseconds, so every pair is tried in earnest instead of being guessed from names.
class Search {
public:
    Search(const Context& ctx, const Blueprint& blueprint, const PackagePool& pool,
           const ModuleSelection& modules, Jobs base)
        : ctx_(ctx),
          blueprint_(blueprint),
          pool_(pool),
          modules_(modules),
          base_(std::move(base)) {}

    Chosen run() {
        const std::string wanted =
            blueprint_.nvidia ? blueprint_.nvidia->kernel : "newest-supported";
        const bool by_glob = wanted != "newest" && wanted != "newest-supported";
        std::vector<Id> kernels =
            kernel_candidates(pool_, blueprint_.kernel_name, by_glob ? wanted : "");
        if (wanted == "newest") {
            kernels.resize(1);
        }
        if (blueprint_.nvidia) {
            versions_ = driver_versions(pool_, *blueprint_.nvidia);
            add_toolkit_jobs(pool_, *blueprint_.nvidia, base_);
        }
        for (const Id kernel : kernels) {
            ctx_.check_cancelled();
            if (std::optional<Chosen> chosen = try_kernel(kernel)) {
                for (const std::string& note : passed_over_) {
                    ctx_.console->note(note);
                }
                return std::move(*chosen);
            }
        }
        throw failure(kernels);
    }

private:
    [[nodiscard]] std::vector<Attempt> attempts(Id kernel) const {
        if (!blueprint_.nvidia) {
            return {{kernel, "", {}}};
        }
        std::vector<Attempt> found;
        for (const std::string& version : versions_) {
            std::vector<Id> kmods = kernel_modules(pool_, *blueprint_.nvidia, version, kernel);
            if (!kmods.empty()) {
                found.push_back({kernel, version, std::move(kmods)});
            }
        }
        return found;
    }

    std::optional<Chosen> try_kernel(Id kernel) {
        const std::string text = pool_.nevra(kernel).text();
        const std::vector<Attempt> pairs = attempts(kernel);
        if (pairs.empty()) {
            passed_over_.push_back(fmt::format("kernel {} passed over: no nvidia kmod of driver {}",
                                               text, blueprint_.nvidia->driver));
            return std::nullopt;
        }
        std::string reason;
        for (const Attempt& attempt : pairs) {
            Jobs jobs = base_;
            add_kernel_jobs(pool_, blueprint_.kernel_name, kernel, jobs);
            if (blueprint_.nvidia) {
                add_driver_jobs(pool_, *blueprint_.nvidia, modules_, attempt.driver, attempt.kmods,
                                jobs);
            }
            Solution solution = solve(pool_, jobs, blueprint_.weak_dependencies);
            if (solution.solved) {
                note_older_driver(attempt);
                return Chosen{attempt, std::move(solution)};
            }
            if (problems_.empty()) {
                problems_ = solution.problems;
            }
            if (reason.empty() && !solution.problems.empty()) {
                reason = solution.problems.front();
            }
        }
        passed_over_.push_back(fmt::format("kernel {} passed over: {}", text, reason));
        return std::nullopt;
    }

    void note_older_driver(const Attempt& attempt) {
        if (blueprint_.nvidia && attempt.driver != versions_.front()) {
            passed_over_.push_back(
                fmt::format("driver {} passed over: it has no kernel module for {}; taking {}",
                            versions_.front(), pool_.nevra(attempt.kernel).text(), attempt.driver));
        }
    }

    [[nodiscard]] Error failure(const std::vector<Id>& kernels) const {
        if (problems_.empty() && blueprint_.nvidia) {
            Error none =
                unsolvable(blueprint_,
                           fmt::format("no kernel has precompiled modules of nvidia driver {}",
                                       blueprint_.nvidia->driver),
                           passed_over_);
            none.traced(fmt::format("[nvidia] at {}", blueprint_.nvidia->location.text()));
            none.hinted(kmod_hint());
            return none;
        }
        std::vector<std::string> lines = problems_;
        if (kernels.size() > 1) {
            lines.insert(lines.end(), passed_over_.begin() + 1, passed_over_.end());
        }
        return unsolvable(blueprint_, "no set of packages satisfies the blueprint", lines);
    }

    [[nodiscard]] std::string kmod_hint() const {
        std::vector<std::string> names;
        for (const Id id : pool_.packages()) {
            if (pool_.visible(id) && pool_.name(id).starts_with("kmod-nvidia-")) {
                names.push_back(pool_.name(id));
            }
        }
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        constexpr std::size_t most = 6;
        if (names.empty()) {
            return "no repository has a kmod-nvidia package: is NVIDIA's repository enabled?";
        }
        if (names.size() > most) {
            names.erase(names.begin(), names.end() - most);
        }
        return fmt::format("kernel module packages there are: {}", fmt::join(names, ", "));
    }

    const Context& ctx_;
    const Blueprint& blueprint_;
    const PackagePool& pool_;
    const ModuleSelection& modules_;
    Jobs base_;
    std::vector<std::string> versions_;
    std::vector<std::string> passed_over_;
    std::vector<std::string> problems_;
};

/// What must hold whatever the solver did: it is checked, not assumed.
void check_chosen(const PackagePool& pool, const Chosen& chosen) {
    for (const Id id : chosen.solution.packages) {
        if (id != chosen.attempt.kernel && is_kernel(pool, id)) {
            throw error(ErrorKind::unsolvable, "two kernels would be installed: {} and {}",
                        pool.nevra(chosen.attempt.kernel).text(), pool.nevra(id).text());
        }
        const std::string name = pool.name(id);
        const bool driver =
            name == "nvidia-driver" || name == "nvidia-driver-cuda" || name == "nvidia-kmod-common";
        if (driver && !chosen.attempt.driver.empty() && pool.version(id) != chosen.attempt.driver) {
            throw error(ErrorKind::unsolvable,
                        "{} does not have the version {} of the kernel module",
                        pool.nevra(id).text(), chosen.attempt.driver);
        }
    }
}

/// Says so where a requested package is not the newest there is: dnf is silent about it.
void note_older(const Context& ctx, const PackagePool& pool, const Jobs& jobs,
                const Solution& solution) {
    for (const Install& install : jobs.installs) {
        const auto taken = std::find_if(install.any_of.begin(), install.any_of.end(), [&](Id id) {
            return std::binary_search(solution.packages.begin(), solution.packages.end(), id);
        });
        if (install.why != "requested" || taken == install.any_of.end()) {
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
            ctx.console->note(fmt::format("{} passed over: taking {}",
                                          pool.nevra(same.front()).text(),
                                          pool.nevra(*taken).text()));
        }
    }
}

Resolution describe(const Context& ctx, PackagePool& pool, const ModuleSelection& modules,
                    const Chosen& chosen) {
    Resolution result;
    for (const Id id : chosen.solution.packages) {
        ResolvedPackage package = pool.resolved(id);
        const auto artifact = modules.included.find(pool.nevra_with_epoch(id));
        package.module = artifact != modules.included.end() ? artifact->second : "";
        package.why = chosen.solution.why.at(id);
        result.packages.push_back(std::move(package));
    }
    std::sort(result.packages.begin(), result.packages.end(),
              [](const ResolvedPackage& left, const ResolvedPackage& right) {
                  return left.nevra < right.nevra;
              });
    for (const ModuleStream& stream : modules.enabled) {
        result.modules.push_back(stream.id);
    }
    for (const RepositoryMetadata& metadata : pool.repositories()) {
        result.repositories.push_back(metadata.resolved);
    }
    std::sort(result.repositories.begin(), result.repositories.end(),
              [](const auto& left, const auto& right) { return left.id < right.id; });
    result.kernel = pool.nevra(chosen.attempt.kernel);
    result.kernel_uname = kernel_uname(ctx, pool, chosen.attempt.kernel);
    result.driver_version = chosen.attempt.driver;
    return result;
}

}  // namespace

Resolution resolve(const Context& ctx, const Blueprint& blueprint) {
    std::vector<RepositoryMetadata> metadata = load_metadata(ctx, blueprint);
    if (metadata.empty()) {
        throw error(ErrorKind::usage, "{}: no repository is enabled", blueprint.path.string())
            .hinted("add a [[repositories]] block");
    }
    const ModuleCatalogue catalogue = read_modules(metadata, blueprint.architecture);
    const ModuleSelection modules =
        select_modules(catalogue, stream_requests(blueprint, catalogue));
    Comps comps;
    for (const RepositoryMetadata& repository : metadata) {
        if (!repository.comps.empty()) {
            add_comps(comps, read_metadata_file(repository.comps), repository.resolved.id);
        }
    }
    PackagePool pool(ctx, std::move(metadata), blueprint.architecture);
    pool.filter(blueprint, modules);
    pool.prepare(ctx, blueprint.packages);
    const Jobs jobs = request_jobs(ctx, blueprint, pool, comps, modules);
    const Chosen chosen = Search(ctx, blueprint, pool, modules, jobs).run();
    check_chosen(pool, chosen);
    note_older(ctx, pool, jobs, chosen.solution);
    return describe(ctx, pool, modules, chosen);
}

}  // namespace edgegpu
