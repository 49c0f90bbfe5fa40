#include "resolve/solve/filtered.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "blueprint/distro/edge_package_set.hpp"
#include "resolve/solve/kernel.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

std::string first_match(const PackagePool& pool, Id id, const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
        if (matches_package(pool, id, pattern)) {
            return pattern;
        }
    }
    return {};
}

std::string excluded_because(const PackagePool& pool, const Blueprint& blueprint, Id id) {
    const std::string pattern = first_match(pool, id, blueprint.excludes);
    if (!pattern.empty()) {
        return fmt::format("excludes has \"{}\"", pattern);
    }
    const std::vector<std::string>& left_out = blueprint.package_set.excludes;
    if (std::find(left_out.begin(), left_out.end(), pool.name(id)) != left_out.end()) {
        return fmt::format("package set {} excludes it, unless [[packages]] names it",
                           describe_package_set(blueprint.package_set));
    }
    const std::string repository = pool.solvable(id)->repo->name;
    for (const Repository& candidate : blueprint.repositories) {
        if (candidate.id != repository) {
            continue;
        }
        const std::string own = first_match(pool, id, candidate.excludepkgs);
        return own.empty()
                   ? fmt::format("includepkgs of repository '{}' leaves it out", repository)
                   : fmt::format("excludepkgs of repository '{}' has \"{}\"", repository, own);
    }
    return "excludes leave it out";
}

std::string modular_because(const PackagePool& pool, const ModuleCatalogue& catalogue, Id id) {
    std::vector<std::string> streams;
    for (const auto& [name, stream] : streams_holding(pool, catalogue, id)) {
        streams.push_back(name + ":" + stream);
    }
    if (streams.empty()) {
        return "modular filtering: an enabled module stream has a package of that name";
    }
    return fmt::format("modular filtering: it is part of {}, which is not enabled",
                       fmt::join(streams, ", "));
}

}  // namespace

std::string filtered_because(const PackagePool& pool, const Blueprint& blueprint,
                             const ModuleCatalogue& catalogue, Id id) {
    switch (pool.hidden(id)) {
        case Hidden::no:
            return {};
        case Hidden::architecture:
            return fmt::format("it is built for {}", pool.nevra(id).arch);
        case Hidden::excluded:
            return excluded_because(pool, blueprint, id);
        case Hidden::module:
            return modular_because(pool, catalogue, id);
        case Hidden::repository:
            return fmt::format("repository '{}' is disabled", pool.solvable(id)->repo->name);
        case Hidden::locked:
            return "the lockfile holds another one";
    }
    return {};
}

std::vector<std::pair<std::string, std::string>> streams_holding(const PackagePool& pool,
                                                                 const ModuleCatalogue& catalogue,
                                                                 Id id) {
    const std::string nevra = pool.nevra_with_epoch(id);
    std::set<std::pair<std::string, std::string>> found;
    for (const ModuleStream& stream : catalogue.streams) {
        if (std::find(stream.artifacts.begin(), stream.artifacts.end(), nevra) !=
            stream.artifacts.end()) {
            found.emplace(stream.id.name, stream.id.stream);
        }
    }
    return {found.begin(), found.end()};
}

std::vector<Id> outranked_kernels(const PackagePool& pool, const std::string& kernel,
                                  const std::optional<NvidiaRequest>& nvidia) {
    if (!nvidia || nvidia->kernel.policy != KernelPolicy::matching) {
        return {};
    }
    const std::string& glob = nvidia->kernel.glob;
    const std::string stem = kernel + "-";
    // "kernel-6.1*" means the kernel in kernel-core-6.1….
    const std::string core =
        glob.starts_with(stem) ? stem + "core-" + glob.substr(stem.size()) : glob;
    std::vector<Id> kernels =
        filtered(pool.packages(), [&](Id id) { return pool.visible(id) && is_kernel(pool, id); });
    pool.sort_best_first(kernels);
    if (kernels.empty()) {
        return {};
    }
    const int best = pool.solvable(kernels.front())->repo->priority;
    std::erase_if(kernels, [&](Id id) {
        return pool.solvable(id)->repo->priority == best ||
               !(matches_package(pool, id, glob) || matches_package(pool, id, core));
    });
    return kernels;
}

std::vector<Id> hidden_matches(const PackagePool& pool, const std::string& spec) {
    std::vector<Id> found = match_spec(pool, spec, true);
    if (found.empty()) {
        if (const Id capability = pool_str2id(pool.get(), spec.c_str(), 0); capability != 0) {
            found = all_providers(pool, capability);
        }
    }
    std::erase_if(found, [&](Id id) { return pool.visible(id); });
    pool.sort_best_first(found);
    return found;
}

std::vector<Id> all_providers(const PackagePool& pool, Id dependency) {
    std::vector<Id> found;
    const Id offset = static_cast<Id>(pool_whatprovides(pool.get(), dependency));
    for (const Id* id = pool.get()->whatprovidesdata + offset; *id != 0; ++id) {
        found.push_back(*id);
    }
    return found;
}

}  // namespace edgegpu
