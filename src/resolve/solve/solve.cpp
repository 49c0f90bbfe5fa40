#include "resolve/solve/solve.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "resolve/solve/installed.hpp"

namespace edgegpu {

namespace {

using SolverPtr = Handle<Solver, solver_free>;

Id one_of(Pool* pool, const std::vector<Id>& ids) {
    IdQueue queue;
    for (const Id id : ids) {
        queue_push(queue.get(), id);
    }
    return pool_queuetowhatprovides(pool, queue.get());
}

void fill_queue(const PackagePool& packages, const Jobs& jobs, Queue* queue) {
    Pool* pool = packages.get();
    if (pool->installed != nullptr) {
        queue_push2(queue, SOLVER_LOCK | SOLVER_SOLVABLE_REPO, pool->installed->repoid);
    }
    for (const Install& install : jobs.installs) {
        queue_push2(queue, SOLVER_INSTALL | SOLVER_SOLVABLE_ONE_OF, one_of(pool, install.any_of));
    }
    for (const Install& recommendation : jobs.recommended) {
        queue_push2(queue, SOLVER_INSTALL | SOLVER_SOLVABLE_ONE_OF | SOLVER_WEAK,
                    one_of(pool, recommendation.any_of));
    }
    if (!jobs.forbidden.empty()) {
        // Erasing a package that is not installed forbids its installation.
        queue_push2(queue, SOLVER_ERASE | SOLVER_SOLVABLE_ONE_OF, one_of(pool, jobs.forbidden));
    }
    for (const auto& [source, stand_in] : packages.stand_ins()) {
        if (stand_in != jobs.stand_in) {
            queue_push2(queue, SOLVER_ERASE | SOLVER_SOLVABLE, stand_in);
        }
    }
    for (const auto& [package, condition] : jobs.conditional) {
        const Id rule = pool_rel2id(pool, pool_str2id(pool, package.c_str(), 1),
                                    pool_str2id(pool, condition.c_str(), 1), REL_COND, 1);
        queue_push2(queue, SOLVER_INSTALL | SOLVER_SOLVABLE_PROVIDES, rule);
    }
}

SolverPtr make_solver(const PackagePool& pool, bool weak_dependencies) {
    SolverPtr solver(solver_create(pool.get()));
    solver_set_flag(solver.get(), SOLVER_FLAG_IGNORE_RECOMMENDED, weak_dependencies ? 0 : 1);
    solver_set_flag(solver.get(), SOLVER_FLAG_BEST_OBEY_POLICY, 1);
    solver_set_flag(solver.get(), SOLVER_FLAG_YUM_OBSOLETES, 1);
    if (pool.has_cards()) {
        // As zypper: a package that supplements hardware alone is not one that the requests bring.
        solver_set_flag(solver.get(), SOLVER_FLAG_ADD_ALREADY_RECOMMENDED, 0);
    }
    return solver;
}

/// Finds the reasons of packages by breadth-first search from the requests, so that chains are
/// shortest and do not depend on the order of the solver's decisions.
class Explainer {
public:
    Explainer(const PackagePool& pool, const std::vector<Id>& packages)
        : pool_(pool), installed_(static_cast<std::size_t>(pool.get()->nsolvables)) {
        for (const Id id : packages) {
            installed_[static_cast<std::size_t>(id)] = true;
        }
    }

    std::map<Id, Reason> run(const Jobs& jobs) {
        for (const Install& install : jobs.installs) {
            for (const Id id : install.any_of) {
                mark(id, install.why);
            }
        }
        walk(false);
        for (const Install& recommendation : jobs.recommended) {
            for (const Id id : recommendation.any_of) {
                mark(id, recommendation.why);
            }
        }
        walk(false);
        walk(true);
        return std::move(why_);
    }

private:
    void mark(Id id, const Reason& why) {
        if (installed_[static_cast<std::size_t>(id)] && why_.emplace(id, why).second) {
            next_.push_back(id);
        }
    }

    /// One breadth-first search. Within a level packages are sorted by name, because the order of
    /// dependencies differs between a pool read from XML and one read from the cache.
    void walk(bool weak) {
        next_.clear();
        for (const auto& entry : why_) {
            next_.push_back(entry.first);
        }
        while (!next_.empty()) {
            std::vector<std::pair<std::string, Id>> level;
            for (const Id id : next_) {
                level.emplace_back(pool_.nevra(id).text(), id);
            }
            next_.clear();
            std::ranges::sort(level);
            for (const auto& entry : level) {
                visit(entry.second, SOLVABLE_REQUIRES, Reason::Kind::required_by);
                if (weak) {
                    visit(entry.second, SOLVABLE_RECOMMENDS, Reason::Kind::recommended_by);
                }
            }
        }
    }

    void visit(Id from, Id key, Reason::Kind relation) {
        IdQueue dependencies;
        lookup_ids(pool_.solvable(from), key, dependencies);
        const Reason why{relation, pool_.name(from)};
        for (const Id dependency : dependencies) {
            if (dependency == SOLVABLE_PREREQMARKER) {
                continue;
            }
            const Id offset = static_cast<Id>(pool_whatprovides(pool_.get(), dependency));
            for (const Id* id = pool_.get()->whatprovidesdata + offset; *id != 0; ++id) {
                mark(*id, why);
            }
        }
    }

    const PackagePool& pool_;
    std::vector<bool> installed_;
    std::map<Id, Reason> why_;
    std::vector<Id> next_;
};

/// The solver's own reason for a package, needed for rich dependencies and Supplements.
Reason decision(const PackagePool& pool, Solver* solver, Id id) {
    Id rule = 0;
    const int reason = solver_describe_decision(solver, id, &rule);
    if (reason == SOLVER_REASON_WEAKDEP) {
        return {Reason::Kind::weak_dependency};
    }
    Id from = 0;
    Id to = 0;
    Id dependency = 0;
    if (rule != 0 &&
        solver_ruleinfo(solver, rule, &from, &to, &dependency) == SOLVER_RULE_PKG_REQUIRES) {
        return {Reason::Kind::required_by, pool.name(from)};
    }
    return {Reason::Kind::dependency};
}

/// Rank of a kind of rule: 0 for causes, 1 for consequences, 2 for "conflicting requests" and the
/// like, which add no information.
int rank(SolverRuleinfo type) {
    switch (type) {
        case SOLVER_RULE_PKG_NOTHING_PROVIDES_DEP:
        case SOLVER_RULE_PKG_NOT_INSTALLABLE:
        case SOLVER_RULE_PKG_CONFLICTS:
        case SOLVER_RULE_PKG_OBSOLETES:
        case SOLVER_RULE_PKG_SELF_CONFLICT:
            return 0;
        case SOLVER_RULE_JOB:
            return 2;
        default:
            return 1;
    }
}

std::vector<std::string> describe_problems(Solver* solver) {
    std::array<std::vector<std::string>, 3> lines;
    const int count = static_cast<int>(solver_problem_count(solver));
    for (Id problem = 1; problem <= count; ++problem) {
        IdQueue rules;
        solver_findallproblemrules(solver, problem, rules.get());
        for (const Id rule : rules) {
            Id from = 0;
            Id to = 0;
            Id dependency = 0;
            const SolverRuleinfo type = solver_ruleinfo(solver, rule, &from, &to, &dependency);
            const std::string line = solver_problemruleinfo2str(solver, type, from, to, dependency);
            std::vector<std::string>& group = lines[static_cast<std::size_t>(rank(type))];
            if (std::ranges::find(group, line) == group.end()) {
                group.push_back(line);
            }
        }
    }
    if (lines[0].empty() && lines[1].empty()) {
        return lines[2];
    }
    lines[0].insert(lines[0].end(), lines[1].begin(), lines[1].end());
    return lines[0];
}

/// Adds the proof of one problem: decisions, and the rules that they follow from.
void append_proof(Solver* solver, Id problem, std::vector<std::string>& lines) {
    constexpr int flags = SOLVER_DECISIONLIST_PROBLEM | SOLVER_DECISIONLIST_SORTED |
                          SOLVER_DECISIONLIST_WITHINFO | SOLVER_DECISIONLIST_MERGEDINFO;
    // A decision consists of eight ids: package (negative: not installed), reason, rule, bits,
    // type, from, to and dependency.
    constexpr int width = 8;
    IdQueue decisions;
    solver_get_decisionlist(solver, problem, flags, decisions.get());
    for (int i = 0; i + width <= decisions.size();) {
        const Id* item = decisions.begin() + i;
        const int step = width * (solver_decisionlist_merged(solver, decisions.get(), i) + 1);
        const bool end = item[1] == SOLVER_REASON_UNSOLVABLE;
        // That only one package of a name can be installed is obvious.
        if (end || item[4] != SOLVER_RULE_PKG_SAME_NAME) {
            const std::string text =
                item[4] == 0
                    ? solver_reason2str(solver, item[1])
                    : solver_decisioninfo2str(solver, item[3], item[4], item[5], item[6], item[7]);
            IdQueue packages;
            solver_decisionlist_solvables(solver, decisions.get(), i, packages.get());
            lines.push_back(
                end ? "unsolvable: " + text
                    : fmt::format("{} {}: {}", item[0] < 0 ? "not installed" : "installed",
                                  pool_solvidset2str(solver->pool, packages.get()), text));
        }
        i += step;
    }
}

}  // namespace

std::map<Id, Reason> reasons(const PackagePool& pool, const Jobs& jobs,
                             const std::vector<Id>& packages) {
    return Explainer(pool, packages).run(jobs);
}

namespace {

/// Takes the parent's packages out of the solver's sight, unless the jobs are for them.
std::unique_ptr<WithoutInstalled> root_of(const PackagePool& pool, const Jobs& jobs) {
    return pool.installed() != nullptr && !jobs.onto_parent
               ? std::make_unique<WithoutInstalled>(pool)
               : nullptr;
}

}  // namespace

Solution solve(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies) {
    const std::unique_ptr<WithoutInstalled> without = root_of(pool, jobs);
    const SolverPtr solver = make_solver(pool, weak_dependencies);
    IdQueue queue;
    fill_queue(pool, jobs, queue.get());
    Solution solution;
    if (solver_solve(solver.get(), queue.get()) != 0) {
        solution.problems = describe_problems(solver.get());
        return solution;
    }
    solution.solved = true;
    IdQueue decisions;
    solver_get_decisionqueue(solver.get(), decisions.get());
    for (const Id id : decisions) {
        if (id > SYSTEMSOLVABLE && !pool.is_installed(id)) {
            solution.packages.push_back(id);
        }
    }
    std::ranges::sort(solution.packages);
    solution.why = reasons(pool, jobs, solution.packages);
    for (const Id id : solution.packages) {
        if (!solution.why.contains(id)) {
            solution.why[id] = decision(pool, solver.get(), id);
        }
    }
    return solution;
}

Refusal refuse(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies) {
    const std::unique_ptr<WithoutInstalled> without = root_of(pool, jobs);
    const SolverPtr solver = make_solver(pool, weak_dependencies);
    IdQueue queue;
    fill_queue(pool, jobs, queue.get());
    Refusal refusal;
    if (solver_solve(solver.get(), queue.get()) == 0) {
        return refusal;
    }
    IdQueue rules;
    solver_findallproblemrules(solver.get(), 1, rules.get());
    for (const Id rule : rules) {
        ProblemRule info;
        info.type = solver_ruleinfo(solver.get(), rule, &info.from, &info.to, &info.dependency);
        if ((info.type & SOLVER_RULE_TYPEMASK) == SOLVER_RULE_JOB) {
            // For a job these are positions in the queue, not packages.
            info = {info.type, 0, 0, 0};
        }
        refusal.rules.push_back(info);
    }
    const int count = static_cast<int>(solver_problem_count(solver.get()));
    for (Id problem = 1; problem <= count; ++problem) {
        append_proof(solver.get(), problem, refusal.proof);
    }
    return refusal;
}

}  // namespace edgegpu
