#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// "`package` requires `dependency`", one step of a chain.
struct Link {
    Id package = 0;
    Id dependency = 0;
    /// `package` only recommends it.
    bool weak = false;
};

/// The dependencies that lead from a request to a package.
struct Chain {
    const Install* install = nullptr;
    /// Empty if the package itself is requested.
    std::vector<Link> links;
};

/// Shortest chains from the requests to all packages that they reach.
class Chains {
public:
    /// Considers only packages in the rules of a failed solve.
    Chains(const PackagePool& pool, const Jobs& jobs, const Refusal& refusal);
    /// Considers only `packages`, those of a solution.
    Chains(const PackagePool& pool, const Jobs& jobs, const std::vector<Id>& packages);

    /// The chain to a package; nothing if it is not reached. Points into the jobs.
    [[nodiscard]] std::optional<Chain> to(Id package) const;

private:
    struct Step {
        const Install* install = nullptr;
        Id from = 0;
        Id dependency = 0;
        bool weak = false;
    };
    void walk(const PackagePool& pool, const Jobs& jobs);
    void visit(const PackagePool& pool, Id from, Id key, std::vector<Id>& next);

    std::set<Id> allowed_;
    std::map<Id, Step> steps_;
};

}  // namespace edgegpu
