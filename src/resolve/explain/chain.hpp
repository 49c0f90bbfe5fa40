#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "resolve/solve/pool.hpp"
#include "resolve/solve/solve.hpp"

namespace edgegpu {

/// "package requires dependency", one step of a chain.
struct Link {
    Id package = 0;
    Id dependency = 0;
    /// it only recommends it
    bool weak = false;
};

/// The way from a request to a package.
struct Chain {
    const Install* install = nullptr;
    /// empty where the package itself was asked for
    std::vector<Link> links;
};

/// Shortest ways from the requests to every package they can reach.
class Chains {
public:
    /// Through packages that the refused rules speak of, and no others: the way that was tried.
    Chains(const PackagePool& pool, const Jobs& jobs, const Refusal& refusal);
    /// Through `packages` only: a solution.
    Chains(const PackagePool& pool, const Jobs& jobs, const std::vector<Id>& packages);

    /// The way to a package; nothing where none leads there. Points into the jobs.
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
