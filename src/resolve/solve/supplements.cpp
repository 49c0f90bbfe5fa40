#include "resolve/solve/supplements.hpp"

#include <string_view>

namespace edgegpu {

namespace {

constexpr std::string_view opening = "modalias(";

/// Deeper than any dependency is written.
constexpr int deepest = 64;

/// Whether a relation's two sides are dependencies: "a and b", "a if b", …
bool is_rich(const Reldep* relation) {
    switch (relation->flags) {
        case REL_AND:
        case REL_OR:
        case REL_COND:
        case REL_UNLESS:
        case REL_ELSE:
        case REL_WITH:
        case REL_WITHOUT:
            return true;
        default:
            return false;
    }
}

Id namespace_of(Pool* pool, std::string_view pattern) {
    const Id text = pool_strn2id(pool, pattern.data(), static_cast<unsigned>(pattern.size()), 1);
    return pool_rel2id(pool, NAMESPACE_MODALIAS, text, REL_NAMESPACE, 1);
}

/// "modalias(PKG:BUS:…)" or "modalias(BUS:…)" as libsolv's dependency; anything else unchanged.
Id rewritten(Pool* pool, Id dependency, int depth) {
    if (depth > deepest) {
        return dependency;
    }
    if (ISRELDEP(dependency) != 0) {
        // Adding relations moves the others.
        const Reldep relation = *GETRELDEP(pool, dependency);
        if (!is_rich(&relation)) {
            return dependency;
        }
        const Id left = rewritten(pool, relation.name, depth + 1);
        const Id right = rewritten(pool, relation.evr, depth + 1);
        return left == relation.name && right == relation.evr
                   ? dependency
                   : pool_rel2id(pool, left, right, relation.flags, 1);
    }
    std::string text = pool_id2str(pool, dependency);
    if (!text.starts_with(opening) || !text.ends_with(')')) {
        return dependency;
    }
    text = text.substr(opening.size(), text.size() - opening.size() - 1);
    const std::size_t first = text.find(':');
    const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
    if (first == std::string::npos) {
        return dependency;
    }
    if (second == std::string::npos) {
        return namespace_of(pool, text);
    }
    const Id package = pool_strn2id(pool, text.data(), static_cast<unsigned>(first), 1);
    const Id alias = namespace_of(pool, std::string_view(text).substr(first + 1));
    return pool_rel2id(pool, package, alias, REL_AND, 1);
}

void collect_patterns(Pool* pool, Id dependency, int depth, std::vector<std::string>& patterns) {
    if (ISRELDEP(dependency) == 0 || depth > deepest) {
        return;
    }
    const Reldep* relation = GETRELDEP(pool, dependency);
    if (relation->flags == REL_NAMESPACE && relation->name == NAMESPACE_MODALIAS) {
        patterns.emplace_back(pool_id2str(pool, relation->evr));
    } else if (is_rich(relation)) {
        collect_patterns(pool, relation->name, depth + 1, patterns);
        collect_patterns(pool, relation->evr, depth + 1, patterns);
    }
}

}  // namespace

void rewrite_supplements(Repo* repo) {
    Pool* pool = repo->pool;
    for (Id id = repo->start; id < repo->end; ++id) {
        Solvable* package = pool_id2solvable(pool, id);
        if (package->repo != repo) {
            continue;
        }
        IdQueue old;
        IdQueue changed;
        lookup_ids(package, SOLVABLE_SUPPLEMENTS, old);
        bool differs = false;
        for (const Id dependency : old) {
            const Id now = rewritten(pool, dependency, 0);
            differs = differs || now != dependency;
            queue_push(changed.get(), now);
        }
        if (differs) {
            solvable_set_deparray(package, SOLVABLE_SUPPLEMENTS, changed.get(), 0);
        }
    }
}

std::vector<std::string> alias_patterns(Pool* pool, Id package) {
    std::vector<std::string> patterns;
    IdQueue supplements;
    lookup_ids(pool_id2solvable(pool, package), SOLVABLE_SUPPLEMENTS, supplements);
    for (const Id dependency : supplements) {
        collect_patterns(pool, dependency, 0, patterns);
    }
    return patterns;
}

}  // namespace edgegpu
