#include "resolve/solve/package_set.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "blueprint/distro/edge_package_set.hpp"
#include "resolve/solve/requests.hpp"
#include "support/error.hpp"

namespace edgegpu {

namespace {

bool matches_any(const std::vector<std::string>& patterns, const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
}

Error missing_packages(const PackagePool& pool, const PackageSet& set,
                       const std::vector<std::string>& missing) {
    const bool hidden = std::any_of(missing.begin(), missing.end(), [&](const std::string& name) {
        return !match_spec(pool, name, true).empty();
    });
    Error failure =
        missing.size() == 1
            ? error(ErrorKind::unsolvable, "no package matches '{}'", missing.front())
            : error(ErrorKind::unsolvable, "no repository has {} packages of the package set: {}",
                    missing.size(), fmt::join(missing, ", "));
    failure.traced(fmt::format("package set {}, chosen at {}", describe_package_set(set),
                               set.location.text()));
    return failure.hinted(
        fmt::format("{}, leave single packages out with excludes, or set [image] package_set = "
                    "\"none\" and name all packages yourself",
                    hidden ? "a disabled repository or module stream has some of them: enable it"
                           : "add the repositories of the distribution (BaseOS and AppStream)"));
}

}  // namespace

std::vector<Install> package_set_installs(const PackagePool& pool, const PackageSet& set,
                                          const std::vector<std::string>& excludes) {
    std::vector<Install> installs;
    std::vector<std::string> missing;
    for (const std::string& name : set.packages) {
        if (matches_any(excludes, name)) {
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
        throw missing_packages(pool, set, missing);
    }
    return installs;
}

std::vector<Install> recommended_by_set(const PackagePool& pool, const std::vector<Install>& set,
                                        const std::string& kernel) {
    Jobs base;
    base.installs = set;
    std::vector<Id> kernels = pool.named(kernel);
    if (!kernels.empty()) {
        base.installs.push_back({std::move(kernels), {Reason::Kind::kernel}});
    }
    const Solution plain = solve(pool, base, false);
    const Solution rich = solve(pool, base, true);
    std::vector<Install> recommended;
    if (!plain.solved || !rich.solved) {
        return recommended;
    }
    for (const Id id : rich.packages) {
        const Reason& why = rich.why.at(id);
        if (why.is_weak() &&
            !std::binary_search(plain.packages.begin(), plain.packages.end(), id)) {
            recommended.push_back({pool.named(pool.name(id)), why});
        }
    }
    return recommended;
}

}  // namespace edgegpu
