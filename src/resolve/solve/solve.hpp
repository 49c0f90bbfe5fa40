#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resolve/reason.hpp"
#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// A request of the blueprint: `packages[index]` or `groups[index]`.
struct RequestLine {
    enum class Table : std::uint8_t { packages, groups };
    Table table = Table::packages;
    std::size_t index = 0;
};

/// A package to install: any of these, preferably the best.
struct Install {
    std::vector<Id> any_of;
    Reason why;
    /// The request of the blueprint that it follows from, if any.
    std::optional<RequestLine> line{};
};

/// Input of the solver; all jobs except `recommended` must be satisfied.
struct Jobs {
    std::vector<Install> installs;
    /// Installed only if possible together with everything else.
    std::vector<Install> recommended;
    std::vector<Id> forbidden;
    /// Names: the first is installed if the second is.
    std::vector<std::pair<std::string, std::string>> conditional;
    /// The stand-in (see PackagePool::stand_ins) that may be installed; 0: none.
    Id stand_in = 0;
    /// Whether the packages are added to those of the parent, none of which changes; else they are
    /// all that there is, parent or not.
    bool onto_parent = false;
};

/// The result of one solve.
struct Solution {
    bool solved = false;
    /// Packages to install, ascending ids.
    std::vector<Id> packages;
    /// Package → reason.
    std::map<Id, Reason> why;
    /// If not solved: the problems, one line each, the most important first.
    std::vector<std::string> problems;
};

/// Solves for an empty root, or for that of the parent (Jobs::onto_parent); no package is installed
/// in two versions. Recommends and Supplements are considered only with `weak_dependencies`.
/// Deterministic.
[[nodiscard]] Solution solve(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies);

/// One of the rules that contradict each other; ids are 0 if this type of rule has none.
struct ProblemRule {
    /// A SolverRuleinfo.
    int type = 0;
    Id from = 0;
    Id to = 0;
    Id dependency = 0;
};

/// Why jobs cannot be solved.
struct Refusal {
    /// The rules of the first problem, in the solver's order.
    std::vector<ProblemRule> rules;
    /// The proofs of all problems: libsolv's decisions and the rules that they follow from, up to
    /// the contradiction, one per line.
    std::vector<std::string> proof;
};

/// Solves jobs again for which `solve` found no solution, to explain why.
[[nodiscard]] Refusal refuse(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies);

/// Why each of `packages` is installed: its request, or a package on a shortest chain from the
/// requests that requires or recommends it. Packages that no chain reaches are omitted.
[[nodiscard]] std::map<Id, Reason> reasons(const PackagePool& pool, const Jobs& jobs,
                                           const std::vector<Id>& packages);

}  // namespace edgegpu
