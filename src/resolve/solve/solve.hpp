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

/// A line of the blueprint that asks for packages: `packages[index]` or `groups[index]`.
struct RequestLine {
    enum class Table : std::uint8_t { packages, groups };
    Table table = Table::packages;
    std::size_t index = 0;
};

/// One package that must be there: any of these, the best that fits.
struct Install {
    std::vector<Id> any_of;
    Reason why;
    /// where a line of its own asks for it
    std::optional<RequestLine> line{};
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
    std::map<Id, Reason> why;
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
[[nodiscard]] std::map<Id, Reason> reasons(const PackagePool& pool, const Jobs& jobs,
                                           const std::vector<Id>& packages);

}  // namespace edgegpu
