#include "resolve/explain/chain.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace edgegpu {

namespace {

/// Sorts by name, newest version first, instead of by id, which depends on the repositories'
/// metadata.
void sort_for_reading(const PackagePool& pool, std::vector<Id>& ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    pool.sort_best_first(ids);
    std::ranges::stable_sort(ids,
                             [&](Id left, Id right) { return pool.name(left) < pool.name(right); });
}

}  // namespace

Chains::Chains(const PackagePool& pool, const Jobs& jobs, const Refusal& refusal) {
    for (const ProblemRule& rule : refusal.rules) {
        allowed_.insert({rule.from, rule.to});
    }
    walk(pool, jobs);
}

Chains::Chains(const PackagePool& pool, const Jobs& jobs, const std::vector<Id>& packages)
    : allowed_(packages.begin(), packages.end()) {
    walk(pool, jobs);
}

void Chains::walk(const PackagePool& pool, const Jobs& jobs) {
    std::vector<Id> level;
    for (const Install& install : jobs.installs) {
        for (const Id id : install.any_of) {
            if (allowed_.contains(id) && steps_.emplace(id, Step{&install, 0, 0, false}).second) {
                level.push_back(id);
            }
        }
    }
    for (const Id key : {SOLVABLE_REQUIRES, SOLVABLE_RECOMMENDS}) {
        while (!level.empty()) {
            sort_for_reading(pool, level);
            std::vector<Id> next;
            for (const Id id : level) {
                visit(pool, id, SOLVABLE_REQUIRES, next);
                if (key == SOLVABLE_RECOMMENDS) {
                    visit(pool, id, key, next);
                }
            }
            level = std::move(next);
        }
        for (const auto& entry : steps_) {
            level.push_back(entry.first);
        }
    }
}

void Chains::visit(const PackagePool& pool, Id from, Id key, std::vector<Id>& next) {
    IdQueue dependencies;
    lookup_ids(pool.solvable(from), key, dependencies);
    std::vector<std::pair<std::string, Id>> sorted;
    for (const Id dependency : dependencies) {
        if (dependency != SOLVABLE_PREREQMARKER) {
            sorted.emplace_back(pool_dep2str(pool.get(), dependency), dependency);
        }
    }
    std::ranges::sort(sorted);
    for (const auto& entry : sorted) {
        const Id offset = static_cast<Id>(pool_whatprovides(pool.get(), entry.second));
        for (const Id* id = pool.get()->whatprovidesdata + offset; *id != 0; ++id) {
            if (allowed_.contains(*id) &&
                steps_
                    .emplace(*id, Step{steps_.at(from).install, from, entry.second,
                                       key == SOLVABLE_RECOMMENDS})
                    .second) {
                next.push_back(*id);
            }
        }
    }
}

std::optional<Chain> Chains::to(Id package) const {
    auto step = steps_.find(package);
    if (step == steps_.end()) {
        return std::nullopt;
    }
    Chain chain;
    chain.install = step->second.install;
    while (step->second.from != 0) {
        chain.links.push_back({step->second.from, step->second.dependency, step->second.weak});
        step = steps_.find(step->second.from);
    }
    std::ranges::reverse(chain.links);
    return chain;
}

}  // namespace edgegpu
