#include "resolve/gpu/kmp.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "resolve/gpu/nvidia.hpp"
#include "resolve/solve/kabi.hpp"
#include "resolve/solve/kernel.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

/// KMPs by family.
using Families = std::map<std::string, std::vector<Id>>;

void add_new(std::vector<std::string>& list, const std::string& item) {
    if (std::ranges::find(list, item) == list.end()) {
        list.push_back(item);
    }
}

/// "6.4.0-150600" of a KMP's "_k6.4.0_150600.21" or a kernel's version and release: the kernel
/// whose symbols SUSE keeps through a service pack.
std::string symbols_of_kernel(const std::string& version, const std::string& release) {
    return version + '-' + release.substr(0, release.find('.'));
}

std::string kernel_of_kmp(const std::string& version) {
    const std::size_t mark = version.find("_k");
    const std::string kernel = mark == std::string::npos ? "" : version.substr(mark + 2);
    const std::size_t end = kernel.find('_');
    return end == std::string::npos
               ? kernel
               : symbols_of_kernel(kernel.substr(0, end), kernel.substr(end + 1));
}

/// Whether a required symbol is the kernel's, or another package's: modules use those of other
/// modules too. The solver has the last word.
bool has_symbol(const PackagePool& pool, Id dependency, Id kernel) {
    const Id offset = static_cast<Id>(pool_whatprovides(pool.get(), dependency));
    for (const Id* id = pool.get()->whatprovidesdata + offset; *id != 0; ++id) {
        if (pool.solvable(*id)->evr == pool.solvable(kernel)->evr ||
            (*id > SYSTEMSOLVABLE && pool.visible(*id) && !is_kernel(pool, *id))) {
            return true;
        }
    }
    return false;
}

bool fits(const PackagePool& pool, Id kmp, Id kernel) {
    bool any = false;
    IdQueue needed;
    lookup_ids(pool.solvable(kmp), SOLVABLE_REQUIRES, needed);
    for (const Id dependency : needed) {
        if (ISRELDEP(dependency) == 0) {
            continue;
        }
        const Reldep* relation = GETRELDEP(pool.get(), dependency);
        if (relation->flags == REL_EQ && ISRELDEP(relation->name) == 0 &&
            !kernel_symbol(pool_id2str(pool.get(), relation->name)).empty()) {
            any = true;
            if (!has_symbol(pool, dependency, kernel)) {
                return false;
            }
        }
    }
    const Nevra nevra = pool.nevra(kernel);
    return any ||
           kernel_of_kmp(pool.version(kmp)) == symbols_of_kernel(nevra.version, nevra.release);
}

/// The implementation of choose_kmps: from all KMPs to those of one family, one reason after the
/// other.
class KmpChooser {
public:
    KmpChooser(const PackagePool& pool, const Blueprint& blueprint)
        : pool_(pool), blueprint_(blueprint), request_(*blueprint.nvidia) {
        for (const Id id : pool.packages()) {
            if (std::optional<KmpName> name = kmp_name(pool.name(id)); name && pool.visible(id)) {
                packages_.push_back(id);
                names_.emplace(id, std::move(*name));
            }
        }
        pool.sort_best_first(packages_);
    }

    KmpChoice run(const std::vector<Id>& kernels) {
        if (packages_.empty()) {
            throw failure("no repository has a kernel module package (KMP) of NVIDIA's driver")
                .hinted("add NVIDIA's repository for the product in [[repositories]]");
        }
        keep_flavour();
        keep_compiled();
        keep_supported();
        keep_driver();
        keep_fitting(kernels);
        keep_requested();
        return only_one();
    }

private:
    [[nodiscard]] Error failure(const std::string& message) const {
        return Error(ErrorKind::unsolvable, message)
            .traced(fmt::format("[nvidia] at {}", request_.location.text()));
    }

    [[nodiscard]] const KmpName& name(Id id) const { return names_.at(id); }

    /// Keeps those for which `keeps` is true; returns the names of which none is left.
    std::vector<std::string> keep(const std::function<bool(Id)>& keeps) {
        std::vector<std::string> left_out;
        std::erase_if(packages_, [&](Id id) {
            const bool out = !keeps(id);
            if (out) {
                add_new(left_out, pool_.name(id));
            }
            return out;
        });
        std::erase_if(left_out, [&](const std::string& out) {
            return std::ranges::any_of(packages_, [&](Id id) { return pool_.name(id) == out; });
        });
        std::ranges::sort(left_out);
        return left_out;
    }

    void keep_flavour() {
        const std::string& kernel = blueprint_.kernel.name;
        const std::string flavour = kernel.substr(kernel.find('-') + 1);
        const auto others =
            mapped_to<std::set<std::string>>(packages_, [&](Id id) { return name(id).flavour; });
        for (const std::string& out : keep([&](Id id) { return name(id).flavour == flavour; })) {
            refused_[out] = fmt::format("it is for another flavour of the kernel than {}", kernel);
        }
        if (packages_.empty()) {
            throw failure(fmt::format("no KMP of NVIDIA's driver is for {}: none of flavour '{}'",
                                      kernel, flavour))
                .hinted(fmt::format("those of the repositories are for: kernel-{}; set "
                                    "customizations.kernel.name, or add a repository",
                                    fmt::join(others, ", kernel-")));
        }
    }

    void keep_compiled() {
        const std::vector<std::string> sources = keep([&](Id id) { return name(id).compiled; });
        for (const std::string& out : sources) {
            refused_[out] = "its scriptlet compiles the modules, for the machine that it runs on";
        }
        if (packages_.empty()) {
            throw failure(fmt::format("no KMP of NVIDIA's driver for {} has modules: the "
                                      "scriptlets of {} compile them, for the machine that they "
                                      "run on",
                                      blueprint_.kernel.name, fmt::join(sources, " and ")))
                .hinted(
                    "add the repository with the signed ones "
                    "(nvidia-open-driver-…-signed-kmp-…)");
        }
        if (request_.flavor != DriverFlavor::automatic) {
            const bool open = request_.flavor == DriverFlavor::open;
            for (const std::string& out : keep([&](Id id) { return name(id).open == open; })) {
                refused_[out] = open ? "its modules are proprietary" : "its modules are open";
            }
        }
        if (packages_.empty()) {
            throw failure(
                "no KMP of NVIDIA's driver has proprietary modules: the signed ones "
                "have the open ones")
                .hinted("set flavor = \"open\" or \"auto\", if the GPUs are Turing or later");
        }
    }

    void keep_supported() {
        const std::vector<Id> all = packages_;
        const auto by_all = [&](Id id) {
            return std::ranges::all_of(request_.devices, [&](const std::string& device) {
                return pool_.supports_card(id, device);
            });
        };
        for (const std::string& out : keep(by_all)) {
            refused_[out] = "it does not support all of the blueprint's cards";
        }
        if (!packages_.empty()) {
            return;
        }
        std::vector<std::string> lines;
        std::vector<std::string> unsupported;
        for (const std::string& device : request_.devices) {
            std::vector<std::string> by;
            for (const Id id : all) {
                if (pool_.supports_card(id, device)) {
                    add_new(by, pool_.name(id));
                }
            }
            if (by.empty()) {
                unsupported.push_back(device);
            }
            lines.push_back(
                fmt::format("{} is supported by {}", device,
                            by.empty() ? "none" : fmt::format("{}", fmt::join(by, ", "))));
        }
        Error none = unsupported.empty()
                         ? failure("no KMP of NVIDIA's driver supports all of these cards: " +
                                   fmt::format("{}", fmt::join(request_.devices, ", ")))
                         : failure(fmt::format("no KMP of NVIDIA's driver supports {}",
                                               fmt::join(unsupported, ", ")));
        none.traced(fmt::format("devices at {}", request_.devices_location.text()));
        for (const std::string& line : lines) {
            none.traced(line);
        }
        throw none.hinted(unsupported.empty()
                              ? "build an image for each kind of card, from two blueprints"
                              : "compare it with what 'lspci -d 10de: -n' shows on a device; a "
                                "newer driver may support it");
    }

    void keep_driver() {
        std::vector<std::string> available;
        for (const Id id : packages_) {
            add_new(available, driver_of_kmp(pool_.version(id)));
        }
        const auto asked = [&](Id id) {
            return is_wanted_driver(driver_of_kmp(pool_.version(id)), request_);
        };
        for (const std::string& out : keep(asked)) {
            refused_[out] = fmt::format("it is not of driver {}", request_.driver);
        }
        if (packages_.empty()) {
            throw failure(fmt::format("no KMP that fits has nvidia driver '{}'", request_.driver))
                .hinted(fmt::format("available versions: {}", fmt::join(available, ", ")));
        }
    }

    /// Families without a package for any kernel are none to choose from, unless all are.
    void keep_fitting(const std::vector<Id>& kernels) {
        std::set<std::string> fitting;
        for (const Id id : packages_) {
            if (std::ranges::any_of(kernels, [&](Id kernel) { return fits(pool_, id, kernel); })) {
                fitting.insert(name(id).family);
            }
        }
        if (!fitting.empty()) {
            for (const std::string& out :
                 keep([&](Id id) { return fitting.contains(name(id).family); })) {
                refused_[out] = "it fits none of the kernels";
            }
        }
    }

    void keep_requested() {
        std::set<std::string> wanted;
        for (const PackageRequest& request : blueprint_.packages) {
            for (const Id id : match_spec(pool_, request.spec)) {
                const auto found = names_.find(id);
                if (found == names_.end() || !request.spec.starts_with(found->second.family)) {
                    continue;
                }
                const auto refused = refused_.find(pool_.name(id));
                if (refused != refused_.end()) {
                    throw error(ErrorKind::unsolvable, "{} cannot be in the image: {}",
                                refused->first, refused->second)
                        .traced(fmt::format("requested at {}", request.location.text()))
                        .hinted(fmt::format("leave it out: the KMP is chosen by [nvidia]; that "
                                            "would be {}",
                                            pool_.name(packages_.front())));
                }
                wanted.insert(found->second.family);
            }
        }
        if (!wanted.empty()) {
            static_cast<void>(keep([&](Id id) { return wanted.contains(name(id).family); }));
        }
    }

    KmpChoice only_one() {
        Families families;
        for (const Id id : packages_) {
            families[name(id).family].push_back(id);
        }
        if (families.size() > 1) {
            throw several(families);
        }
        KmpChoice choice;
        choice.name = name(packages_.front());
        choice.packages = packages_;
        for (const Id id : packages_) {
            add_new(choice.drivers, driver_of_kmp(pool_.version(id)));
        }
        return choice;
    }

    [[nodiscard]] Error several(const Families& families) const {
        std::vector<std::string> names;
        std::vector<std::string> lines;
        for (const auto& entry : families) {
            std::vector<std::string> versions;
            for (const Id id : entry.second) {
                add_new(versions, driver_of_kmp(pool_.version(id)));
            }
            names.push_back(pool_.name(entry.second.front()));
            lines.push_back(fmt::format("{}: driver {}", names.back(), fmt::join(versions, ", ")));
        }
        Error failure_of_all = failure(fmt::format("{} KMPs of NVIDIA's driver fit: {}",
                                                   families.size(), fmt::join(names, ", ")));
        for (const std::string& line : lines) {
            failure_of_all.traced(line);
        }
        return failure_of_all.hinted(fmt::format(
            "request one of them in [[packages]], as in name = \"{}\"{}", names.front(),
            request_.devices.empty() ? "; or name the cards: devices = [\"10de:…\"] in [nvidia]"
                                     : ""));
    }

    const PackagePool& pool_;
    const Blueprint& blueprint_;
    const NvidiaRequest& request_;
    std::vector<Id> packages_;
    std::map<Id, KmpName> names_;
    /// Name of a package → why the image cannot have it.
    std::map<std::string, std::string> refused_;
};

/// nvidia-smi, and with it the libraries that containers need.
std::string user_space(const KmpChoice& choice) {
    return "nvidia-compute-utils-" + choice.name.generation;
}

}  // namespace

KmpChoice choose_kmps(const PackagePool& pool, const Blueprint& blueprint,
                      const std::vector<Id>& kernels) {
    return KmpChooser(pool, blueprint).run(kernels);
}

std::vector<Id> kmps_for(const PackagePool& pool, const KmpChoice& choice,
                         const std::string& version, Id kernel) {
    std::vector<Id> found = choice.packages;
    std::erase_if(found, [&](Id id) {
        return driver_of_kmp(pool.version(id)) != version || !fits(pool, id, kernel);
    });
    return found;
}

std::string without_user_space(const PackagePool& pool, const KmpChoice& choice,
                               const std::string& version) {
    const std::string name = user_space(choice);
    std::vector<std::string> others;
    for (const Id id : pool.named(name)) {
        if (pool.version(id) == version) {
            return {};
        }
        add_new(others, pool.version(id));
    }
    return others.empty() ? fmt::format("no repository has its user space, {}", name)
                          : fmt::format("no repository has its user space, {} {}, only {}", name,
                                        version, fmt::join(others, ", "));
}

void add_kmp_jobs(const PackagePool& pool, const KmpChoice& choice, const std::string& version,
                  const std::vector<Id>& kmps, Jobs& jobs) {
    jobs.installs.push_back({kmps, {Reason::Kind::driver, version}});
    std::vector<Id> tools = pool.named(user_space(choice));
    std::erase_if(tools, [&](Id id) { return pool.version(id) != version; });
    jobs.installs.push_back({std::move(tools), {Reason::Kind::driver, version}});
    for (const Id id : pool.packages()) {
        if (!pool.visible(id) || std::ranges::find(kmps, id) != kmps.end()) {
            continue;
        }
        const std::string name = pool.name(id);
        const std::string generation = generation_of(name);
        if (!generation.empty() && (kmp_name(name) || generation != choice.name.generation ||
                                    driver_of_kmp(pool.version(id)) != version)) {
            jobs.forbidden.push_back(id);
        }
    }
}

}  // namespace edgegpu
