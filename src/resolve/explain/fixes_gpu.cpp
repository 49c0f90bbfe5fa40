#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "resolve/explain/fixes.hpp"
#include "resolve/gpu/devices.hpp"
#include "resolve/gpu/kmp_name.hpp"
#include "resolve/gpu/nvidia.hpp"
#include "resolve/solve/filtered.hpp"
#include "support/ranges.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

class GpuFixFinder {
public:
    GpuFixFinder(const Failed& failed, BlueprintText& text)
        : failed_(failed),
          pool_(failed.universe.pool()),
          nvidia_(*failed.blueprint.nvidia),
          text_(text) {}

    std::vector<Fix> run() {
        // The smallest changes first: version and kernel matter less than the branch.
        raise_priority();
        older_kernel();
        toolkits();
        if (is_exact_version(nvidia_.driver)) {
            set("driver", &NvidiaRequest::driver, std::to_string(branch_of(nvidia_.driver)));
        }
        if (nvidia_.flavor != DriverFlavor::automatic) {
            set("flavor", &NvidiaRequest::flavor, DriverFlavor::automatic);
        }
        if (nvidia_.modules == DriverModules::precompiled) {
            set("modules", &NvidiaRequest::modules, DriverModules::automatic);
        }
        branches();
        for (const DriverFlavor flavor : {DriverFlavor::open, DriverFlavor::proprietary}) {
            set("flavor", &NvidiaRequest::flavor, flavor);
        }
        set("modules", &NvidiaRequest::modules, DriverModules::dkms);
        if (nvidia_.profile != "ks") {
            set("profile", &NvidiaRequest::profile, std::string("ks"));
        }
        // Never fewer devices: the image would not drive a GPU that it is for.
        return std::move(fixes_);
    }

private:
    /// A value of [nvidia] in TOML.
    template <typename Value>
    static std::string as_written(const Value& value) {
        if constexpr (std::is_same_v<Value, KernelChoice>) {
            return fmt::format("\"{}\"", value.text());
        } else {
            return fmt::format("\"{}\"", value);
        }
    }

    /// Adds a fix that sets `key` to `value`, unless it has that value.
    template <typename Value>
    void set(const std::string& key, Value NvidiaRequest::*member, const Value& value) {
        if (nvidia_.*member == value) {
            return;
        }
        Fix fix{
            {text_.set_key(nvidia_.location, key, as_written(nvidia_.*member), as_written(value))},
            failed_.blueprint,
            ""};
        (*fix.changed.nvidia).*member = value;
        fixes_.push_back(std::move(fix));
    }

    /// For a requested kernel in a repository with a lower priority than another one: raises the
    /// priority.
    void raise_priority() {
        const std::vector<Id> kernels =
            outranked_kernels(pool_, failed_.blueprint.kernel.name, failed_.blueprint.nvidia);
        if (kernels.empty()) {
            return;
        }
        const Repo* wanted = pool_.solvable(kernels.front())->repo;
        const std::vector<Repository>& repositories = failed_.blueprint.repositories;
        int best = -wanted->priority;
        for (const Repository& repository : repositories) {
            best = repository.enabled ? std::min(best, repository.priority) : best;
        }
        for (std::size_t i = 0; i < repositories.size(); ++i) {
            if (repositories[i].id == wanted->name) {
                Fix fix{
                    {text_.set_key(repositories[i].location, "priority",
                                   std::to_string(repositories[i].priority), std::to_string(best))},
                    failed_.blueprint,
                    ""};
                fix.changed.repositories[i].priority = best;
                fixes_.push_back(std::move(fix));
            }
        }
    }

    void older_kernel() {
        set("kernel", &NvidiaRequest::kernel, KernelChoice{});
        if (failed_.blueprint.kernel.name != "kernel") {
            const std::string file = nvidia_.location.file;
            const SourceLocation table = text_.find_table(file, "[customizations.kernel]");
            Fix fix{
                {text_.set_key(table.line != 0 ? table : SourceLocation{file, 0, 0}, "name",
                               fmt::format("\"{}\"", failed_.blueprint.kernel.name), "\"kernel\"")},
                failed_.blueprint,
                ""};
            fix.changed.kernel.name = "kernel";
            fixes_.push_back(std::move(fix));
        }
    }

    void toolkits() {
        if (nvidia_.toolkit.empty()) {
            return;
        }
        std::vector<std::string> seen;
        for (const Id id : pool_.named("nvidia-container-toolkit")) {
            const std::string version = pool_.version(id);
            if (std::ranges::find(seen, version) == seen.end() && seen.size() < 4) {
                seen.push_back(version);
                set("toolkit", &NvidiaRequest::toolkit, version);
            }
        }
    }

    /// Other branches, the nearest first, the newer of two equally near ones.
    void branches() {
        std::set<unsigned> found = driver_branches(failed_.universe);
        const unsigned own = branch_of(nvidia_.driver);
        found.erase(own);
        std::vector<unsigned> sorted(found.rbegin(), found.rend());
        std::ranges::stable_sort(sorted, [&](unsigned left, unsigned right) {
            const auto distance = [&](unsigned branch) {
                return branch > own ? branch - own : own - branch;
            };
            return distance(left) < distance(right);
        });
        for (const unsigned branch : sorted) {
            set("driver", &NvidiaRequest::driver, std::to_string(branch));
        }
    }

    const Failed& failed_;
    const PackagePool& pool_;
    const NvidiaRequest& nvidia_;
    BlueprintText& text_;
    std::vector<Fix> fixes_;
};

/// Whether the failure may concern kernel, driver or toolkit.
bool concerns_gpu(const Failed& failed) {
    if (failed.cause.message.empty()) {
        return true;
    }
    return std::ranges::any_of(failed.cause.origins, [](const Origin& origin) {
        return origin.kind == Origin::Kind::nvidia || origin.kind == Origin::Kind::kernel ||
               origin.kind == Origin::Kind::toolkit;
    });
}

}  // namespace

std::set<unsigned> driver_branches(const Universe& universe) {
    auto found =
        mapped_to<std::set<unsigned>>(universe.catalogue().stream_names(driver_module), branch_of);
    const PackagePool& pool = universe.pool();
    for (const Id id : pool.packages()) {
        const std::string name = pool.name(id);
        if (name == "nvidia-driver" || name == "nvidia-driver-cuda" || kmp_name(name)) {
            found.insert(branch_of(pool.version(id)));
        }
    }
    found.erase(0);
    return found;
}

std::vector<Fix> possible_gpu_fixes(const Failed& failed, BlueprintText& text) {
    if (!failed.blueprint.nvidia || !concerns_gpu(failed)) {
        return {};
    }
    return GpuFixFinder(failed, text).run();
}

}  // namespace edgegpu
