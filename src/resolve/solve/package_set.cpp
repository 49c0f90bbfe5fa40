#include "resolve/solve/package_set.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "blueprint/distro/edge_package_set.hpp"
#include "resolve/solve/requests.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

/// Whether the user's own `excludes` leave this name of the set out.
bool is_excluded(const Blueprint& blueprint, const std::string& name) {
    return std::any_of(blueprint.excludes.begin(), blueprint.excludes.end(),
                       [&](const std::string& pattern) {
                           return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
                       });
}

Error missing_packages(const PackagePool& pool, const Blueprint& blueprint,
                       const std::vector<std::string>& missing) {
    const bool hidden = std::any_of(missing.begin(), missing.end(), [&](const std::string& name) {
        return !match_spec(pool, name, true).empty();
    });
    Error failure =
        missing.size() == 1
            ? error(ErrorKind::unsolvable, "no package matches '{}'", missing.front())
            : error(ErrorKind::unsolvable, "no repository has {} packages of the package set: {}",
                    missing.size(), fmt::join(missing, ", "));
    failure.traced(fmt::format("package set {}, chosen at {}", describe_package_set(blueprint),
                               blueprint.package_set.location.text()));
    return failure.hinted(
        fmt::format("{}, leave single packages out with excludes, or say [image] package_set = "
                    "\"none\" and name all packages yourself",
                    hidden ? "a disabled repository or module stream has some of them: enable it"
                           : "add the repositories of the distribution (BaseOS and AppStream)"));
}

/// Wishes for what the packages of the set recommend, as far as a solve of the set by itself takes
/// it: what the rest of the image recommends stays out.
void add_recommended(const Blueprint& blueprint, const PackagePool& pool,
                     const std::vector<Install>& set, Jobs& jobs) {
    Jobs base;
    base.installs = set;
    std::vector<Id> kernels = pool.named(blueprint.kernel_name);
    if (!kernels.empty()) {
        base.installs.push_back({std::move(kernels), {Reason::Kind::kernel}});
    }
    const Solution plain = solve(pool, base, false);
    const Solution rich = solve(pool, base, true);
    if (!plain.solved || !rich.solved) {
        return;  // the solve of the whole image says why
    }
    for (const Id id : rich.packages) {
        const Reason& why = rich.why.at(id);
        if (why.is_weak() &&
            !std::binary_search(plain.packages.begin(), plain.packages.end(), id)) {
            jobs.recommended.push_back({pool.named(pool.name(id)), why});
        }
    }
}

}  // namespace

void add_package_set(const Blueprint& blueprint, const PackagePool& pool, Jobs& jobs) {
    const PackageSet& set = blueprint.package_set;
    std::vector<Install> installs;
    std::vector<std::string> missing;
    for (const std::string& name : set.packages) {
        if (is_excluded(blueprint, name)) {
            continue;
        }
        std::vector<Id> found = match_spec(pool, name);
        if (found.empty()) {
            missing.push_back(name);
        } else {
            installs.push_back({std::move(found), {Reason::Kind::package_set, set.name}});
        }
    }
    if (!missing.empty()) {
        throw missing_packages(pool, blueprint, missing);
    }
    if (set.weak_dependencies && !blueprint.weak_dependencies) {
        add_recommended(blueprint, pool, installs, jobs);
    }
    jobs.installs.insert(jobs.installs.end(), installs.begin(), installs.end());
}

}  // namespace edgegpu
