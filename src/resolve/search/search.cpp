#include "resolve/search/search.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "blueprint/distro/distro.hpp"
#include "resolve/gpu/dkms.hpp"
#include "resolve/gpu/kmp.hpp"
#include "resolve/gpu/nvidia.hpp"
#include "resolve/solve/installed.hpp"
#include "resolve/solve/kabi.hpp"
#include "resolve/solve/kernel.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

Error unsolvable(const std::string& what, const std::vector<std::string>& problems) {
    constexpr std::size_t most = 12;
    Error failure(ErrorKind::unsolvable, what);
    for (std::size_t i = 0; i < problems.size() && i < most; ++i) {
        failure.traced(problems[i]);
    }
    if (problems.size() > most) {
        failure.traced(fmt::format("and {} more", problems.size() - most));
    }
    return failure;
}

/// The implementation of find_kernel.
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
        const KernelChoice wanted = blueprint_.nvidia ? blueprint_.nvidia->kernel : KernelChoice{};
        std::vector<Id> kernels =
            pool_.installed() != nullptr
                ? std::vector<Id>{installed_kernel(pool_, wanted.glob)}
                : kernel_candidates(pool_, blueprint_.kernel.name, wanted.glob);
        if (wanted.policy == KernelPolicy::newest) {
            kernels.resize(1);
        }
        if (blueprint_.nvidia) {
            find_versions(kernels);
            add_toolkit_jobs(pool_, *blueprint_.nvidia, base_);
        }
        for (const Id kernel : kernels) {
            ctx_.check_cancelled();
            if (std::optional<Chosen> chosen = try_kernel(kernel)) {
                chosen->passed_kernels = std::move(passed_over_);
                return {std::move(chosen), std::nullopt, std::nullopt, {}};
            }
        }
        return {std::nullopt, failure(kernels), std::move(refused_), std::move(unpaired_)};
    }

private:
    /// The versions of the driver to try, newest first.
    void find_versions(const std::vector<Id>& kernels) {
        if (!is_suse(blueprint_.distro)) {
            versions_ = driver_versions(pool_, *blueprint_.nvidia);
            return;
        }
        kmps_ = choose_kmps(pool_, blueprint_, kernels);
        versions_ = kmps_->drivers;
    }

    [[nodiscard]] bool compiles() const {
        return blueprint_.nvidia && blueprint_.nvidia->modules == DriverModules::dkms;
    }

    [[nodiscard]] std::vector<Attempt> attempts(Id kernel) const {
        if (!blueprint_.nvidia) {
            return {{kernel, "", std::nullopt, {}, 0}};
        }
        std::vector<Attempt> found;
        if (kmps_) {
            const DriverFlavor flavor =
                kmps_->name.open ? DriverFlavor::open : DriverFlavor::proprietary;
            for (const std::string& version : versions_) {
                std::vector<Id> kmps = kmps_for(pool_, *kmps_, version, kernel);
                if (!kmps.empty() && without_user_space(pool_, *kmps_, version).empty()) {
                    found.push_back({kernel, version, flavor, std::move(kmps), 0});
                }
            }
            return found;
        }
        for (const std::string& version : versions_) {
            for (const DriverFlavor flavor : flavors_of(*blueprint_.nvidia, version)) {
                if (compiles()) {
                    for (const Id source : dkms_sources(pool_, flavor, version)) {
                        found.push_back(
                            {kernel, version, flavor, {pool_.stand_ins().at(source)}, source});
                    }
                    continue;
                }
                std::vector<Id> kmods = kernel_modules(pool_, flavor, version, kernel);
                if (!kmods.empty()) {
                    found.push_back({kernel, version, flavor, std::move(kmods), 0});
                }
            }
        }
        return found;
    }

    /// The jobs of one attempt: base, kernel, and with [nvidia] the driver.
    [[nodiscard]] Jobs jobs_of(const Attempt& attempt) const {
        Jobs jobs = base_;
        jobs.onto_parent = pool_.installed() != nullptr;
        add_kernel_jobs(pool_, blueprint_.kernel.name, attempt.kernel, jobs);
        if (kmps_) {
            add_kmp_jobs(pool_, *kmps_, attempt.driver, attempt.kmods, jobs);
        } else if (blueprint_.nvidia) {
            add_driver_jobs(pool_, *blueprint_.nvidia, modules_, attempt.driver, attempt.kmods,
                            jobs);
        }
        return jobs;
    }

    std::optional<Chosen> try_kernel(Id kernel) {
        const std::vector<Attempt> pairs = attempts(kernel);
        if (pairs.empty()) {
            if (!compiles() && !kmps_) {
                unpaired_.push_back(kernel);
            }
            passed_over_.push_back({kernel, kmps_ ? no_kmp(kernel) : no_modules()});
            return std::nullopt;
        }
        std::string reason;
        Solution build_root;
        if (compiles()) {
            build_root = solve_build_root(pool_, blueprint_.kernel.name, kernel);
            if (!build_root.solved) {
                passed_over_.push_back(
                    {kernel, "no modules can be compiled for it: " + build_root.problems.front()});
                return std::nullopt;
            }
        }
        std::map<std::string, std::string> unsolved;
        for (const Attempt& attempt : pairs) {
            Jobs jobs = jobs_of(attempt);
            Solution solution = solve(pool_, jobs, blueprint_.weak_dependencies);
            if (solution.solved) {
                return Chosen{attempt,
                              std::move(jobs),
                              std::move(solution),
                              std::move(build_root),
                              {},
                              newer_drivers(attempt, unsolved)};
            }
            if (problems_.empty()) {
                problems_ = solution.problems;
                refused_ = std::move(jobs);
            }
            if (!solution.problems.empty()) {
                unsolved.emplace(attempt.driver, solution.problems.front());
                if (reason.empty()) {
                    reason = solution.problems.front();
                }
            }
        }
        const std::string kabi = kabi_reason(kernel);
        passed_over_.push_back({kernel, kabi.empty() ? reason : kabi});
        return std::nullopt;
    }

    /// That a requested package has no version built for this kernel; empty if there is none.
    [[nodiscard]] std::string kabi_reason(Id kernel) const {
        for (const Install& install : base_.installs) {
            const bool none = std::ranges::all_of(install.any_of, [&](Id id) {
                std::size_t total = 0;
                return !kabi_differences(pool_, id, kernel, total).empty();
            });
            if (none && !install.any_of.empty()) {
                return kabi_message(pool_, install.any_of.front(), kernel);
            }
        }
        return {};
    }

    /// Why no KMP is tried with this kernel: of the newest driver.
    [[nodiscard]] std::string no_kmp(Id kernel) const {
        for (const std::string& version : versions_) {
            if (!kmps_for(pool_, *kmps_, version, kernel).empty()) {
                return fmt::format("driver {}: {}", version,
                                   without_user_space(pool_, *kmps_, version));
            }
        }
        const std::string kabi = kabi_message(pool_, kmps_->packages.front(), kernel);
        return kabi.empty() ? fmt::format("{} was built for another one",
                                          pool_.nevra(kmps_->packages.front()).text())
                            : kabi;
    }

    [[nodiscard]] std::string no_modules() const {
        return fmt::format("no {}nvidia {} of driver {}", flavor_prefix(),
                           compiles() ? "kmod sources" : "kmod", blueprint_.nvidia->driver);
    }

    /// Only an explicit request for open modules is mentioned.
    [[nodiscard]] std::string flavor_prefix() const {
        return blueprint_.nvidia->flavor == DriverFlavor::open ? "open " : "";
    }

    /// The drivers newer than that of the solved attempt. `unsolved` has the first problem of each
    /// that was tried with the same kernel; the others have no modules for it.
    [[nodiscard]] std::vector<PassedDriver> newer_drivers(
        const Attempt& attempt, const std::map<std::string, std::string>& unsolved) const {
        std::vector<PassedDriver> newer;
        for (const std::string& version : versions_) {
            if (version == attempt.driver) {
                break;
            }
            const auto tried = unsolved.find(version);
            if (kmps_ && tried == unsolved.end()) {
                const std::string lacks = without_user_space(pool_, *kmps_, version);
                newer.push_back({version, lacks.empty() ? "no KMP of it fits the kernel" : lacks});
                continue;
            }
            newer.push_back({version, tried != unsolved.end() ? tried->second
                                      : compiles()
                                          ? "it has no kmod sources"
                                          : fmt::format("it has no kernel module that fits {}",
                                                        pool_.nevra(attempt.kernel).text())});
        }
        return newer;
    }

    [[nodiscard]] std::vector<std::string> passed_lines() const {
        return mapped(passed_over_, [&](const PassedKernel& passed) {
            return fmt::format("kernel {} passed over: {}", pool_.nevra(passed.kernel).text(),
                               passed.reason);
        });
    }

    [[nodiscard]] Error failure(const std::vector<Id>& kernels) const {
        if (problems_.empty() && kmps_) {
            return unsolvable(fmt::format("no kernel fits a KMP of nvidia driver {} and its user "
                                          "space",
                                          blueprint_.nvidia->driver),
                              passed_lines())
                .traced(fmt::format("[nvidia] at {}", blueprint_.nvidia->location.text()))
                .hinted(fmt::format("drivers with a KMP here: {}", fmt::join(versions_, ", ")));
        }
        if (problems_.empty() && blueprint_.nvidia) {
            Error none = unsolvable(
                fmt::format(
                    fmt::runtime(compiles()
                                     ? "modules of nvidia driver {} can be compiled for no kernel"
                                     : "no kernel has precompiled modules of nvidia driver {}"),
                    blueprint_.nvidia->driver),
                passed_lines());
            none.traced(fmt::format("[nvidia] at {}", blueprint_.nvidia->location.text()));
            none.hinted(kmod_hint());
            return none;
        }
        std::vector<std::string> lines = problems_;
        if (kernels.size() > 1) {
            const std::vector<std::string> passed = passed_lines();
            lines.insert(lines.end(), passed.begin() + 1, passed.end());
        }
        return unsolvable("no set of packages satisfies the blueprint", lines);
    }

    [[nodiscard]] std::string kmod_hint() const {
        std::vector<std::string> names;
        for (const Id id : pool_.packages()) {
            if (pool_.visible(id) && pool_.name(id).starts_with("kmod-nvidia-")) {
                names.push_back(pool_.name(id));
            }
        }
        std::ranges::sort(names);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        constexpr std::size_t most = 6;
        if (names.empty()) {
            return "no repository has a kmod-nvidia package: is NVIDIA's repository enabled?";
        }
        if (names.size() > most) {
            names.erase(names.begin(), names.end() - most);
        }
        return fmt::format("available kernel module packages: {}", fmt::join(names, ", "));
    }

    const Context& ctx_;
    const Blueprint& blueprint_;
    const PackagePool& pool_;
    const ModuleSelection& modules_;
    Jobs base_;
    std::vector<std::string> versions_;
    /// On SUSE: the family of kernel module packages.
    std::optional<KmpChoice> kmps_;
    std::vector<PassedKernel> passed_over_;
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
