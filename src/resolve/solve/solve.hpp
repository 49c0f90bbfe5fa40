#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "resolve/solve/pool.hpp"

namespace edgegpu {

/// One package that must be there: any of these, the best that fits.
struct Install {
    std::vector<Id> any_of;
    /// what the lockfile says about it: "requested", "profile …", …
    std::string why;
};

/// What a solve has to fulfil; all of it but `recommended` is hard.
struct Jobs {
    std::vector<Install> installs;
    /// wishes: what cannot be had together with the rest is left out
    std::vector<Install> recommended;
    std::vector<Id> forbidden;
    /// names: the first is installed if the second is
    std::vector<std::pair<std::string, std::string>> conditional;
    /// The stand-in (see PackagePool::stand_ins) that may be taken; 0: none.
    Id stand_in = 0;
};

/// The result of one solve.
struct Solution {
    bool solved = false;
    /// packages to install, ascending ids
    std::vector<Id> packages;
    /// package → reason
    std::map<Id, std::string> why;
    /// if not solved: what stands against it, a line each, the essential first
    std::vector<std::string> problems;
};

/// Solves for an empty root: nothing is installed, and no package in two versions. Recommends and
/// Supplements count only with `weak_dependencies`. Same pool and jobs, same result.
[[nodiscard]] Solution solve(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies);

/// One rule of those that cannot all hold; ids are 0 where the kind of rule has none.
struct ProblemRule {
    /// a SolverRuleinfo
    int type = 0;
    Id from = 0;
    Id to = 0;
    Id dependency = 0;
};

/// What stands against jobs that cannot be solved.
struct Refusal {
    /// the rules of the first problem, in the solver's order
    std::vector<ProblemRule> rules;
    /// libsolv's decisions and the rules they follow from, up to the contradiction, one a line; the
    /// proofs of several problems one after the other
    std::vector<std::string> proof;
};

/// Solves jobs that `solve` refused again, to say why.
[[nodiscard]] Refusal refuse(const PackagePool& pool, const Jobs& jobs, bool weak_dependencies);

/// Why each of `packages` is there: the request, or the nearest package (from the requests) that
/// requires or recommends it. Packages that no such chain reaches are left out.
[[nodiscard]] std::map<Id, std::string> reasons(const PackagePool& pool, const Jobs& jobs,
                                                const std::vector<Id>& packages);

}  // namespace edgegpu
