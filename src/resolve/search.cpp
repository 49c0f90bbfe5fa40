#include "resolve/search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "resolve/kernel.hpp"
#include "resolve/nvidia.hpp"

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

    SearchResult run() {
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
                return {std::move(chosen), std::nullopt, std::nullopt, {}};
            }
        }
        return {std::nullopt, failure(kernels), std::move(refused_), std::move(unpaired_)};
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
            unpaired_.push_back(kernel);
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
                return Chosen{attempt, std::move(jobs), std::move(solution)};
            }
            if (problems_.empty()) {
                problems_ = solution.problems;
                refused_ = std::move(jobs);
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
    std::optional<Jobs> refused_;
    std::vector<Id> unpaired_;
};

}  // namespace

SearchResult find_kernel(const Context& ctx, const Blueprint& blueprint, const PackagePool& pool,
                         const ModuleSelection& modules, Jobs base) {
    return Search(ctx, blueprint, pool, modules, std::move(base)).run();
}

}  // namespace edgegpu
