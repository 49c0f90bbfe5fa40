#include "resolve/search/policy_root.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "blueprint/sources/policy_source.hpp"

namespace edgegpu {

namespace {

constexpr const char* devel = "selinux-policy-devel";
/// Not every version of selinux-policy-devel requires them.
constexpr std::array policy_tools{"checkpolicy", "m4", "make"};
/// Packages of programs that its Makefile calls, as far as they exist; only some distributions have
/// a separate package for semodule's tools.
constexpr std::array recipe_tools{"bash", "coreutils", "findutils",       "gawk",
                                  "grep", "sed",       "policycoreutils", "semodule-utils"};
constexpr const char* plain_hint =
    "or write the module in the plain policy language: module NAME 1.0; require { … }";

/// "selinux/x.te:3: 'policy_module' is a macro of the reference policy".
std::string need_text(const InterfaceNeed& need) {
    return fmt::format("{}:{}: '{}' is a macro of the reference policy", display_path(need.file),
                       need.macro.line, need.macro.name);
}

Error no_policy(const InterfaceNeed& need) {
    return error(ErrorKind::usage, "{}, and the image has no selinux-policy", need_text(need))
        .hinted("add selinux-policy-targeted to the packages");
}

/// The error for a missing package, listing those that exist.
Error no_devel(const PackagePool& pool, const InterfaceNeed& need, Id policy) {
    const std::string wanted = fmt::format("{}-{}", devel, pool.nevra(policy).evr());
    std::vector<Id> others = match_spec(pool, devel, true);
    pool.sort_best_first(others);
    const auto same = std::ranges::find_if(
        others, [&](Id id) { return pool.solvable(id)->evr == pool.solvable(policy)->evr; });
    const bool locked = same != others.end() && pool.hidden(*same) == Hidden::locked;
    const bool excluded = same != others.end() && pool.hidden(*same) == Hidden::excluded;
    Error problem = error(ErrorKind::unsolvable, "{}: compiling it requires {}, which {}",
                          need_text(need), wanted,
                          locked     ? "is not locked"
                          : excluded ? "excludes or includepkgs rule out"
                                     : "no repository has");
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < others.size() && i < most; ++i) {
        problem.traced(fmt::format("there is {} in '{}'", pool.nevra(others[i]).text(),
                                   pool.solvable(others[i])->repo->name));
    }
    return problem.hinted(fmt::format(
        "add the repository with {} (in RHEL: BaseOS or AppStream), {}", wanted, plain_hint));
}

Error unsolved(const InterfaceNeed& need, const std::vector<std::string>& problems) {
    Error problem =
        error(ErrorKind::unsolvable,
              "{}: the packages that compile it cannot be installed together", need_text(need));
    for (const std::string& line : problems) {
        problem.traced(line);
    }
    return problem.hinted(
        fmt::format("add the repositories with {} and what it requires, {}", devel, plain_hint));
}

std::optional<Id> policy_of(const PackagePool& pool, const std::vector<Id>& packages) {
    const auto found =
        std::ranges::find_if(packages, [&](Id id) { return pool.name(id) == "selinux-policy"; });
    if (found != packages.end()) {
        return *found;
    }
    for (const Id id : pool.packages()) {
        if (pool.is_installed(id) && pool.name(id) == "selinux-policy") {
            return id;
        }
    }
    return std::nullopt;
}

/// Throws Error if there is no solution.
Solution solve_policy_root(const PackagePool& pool, const InterfaceNeed& need, Id policy) {
    Jobs jobs;
    std::vector<Id> fitting = pool.named(devel);
    std::erase_if(fitting,
                  [&](Id id) { return pool.solvable(id)->evr != pool.solvable(policy)->evr; });
    if (fitting.empty()) {
        throw no_devel(pool, need, policy);
    }
    jobs.installs.push_back({std::move(fitting), {Reason::Kind::policy_compiler}});
    for (const char* tool : policy_tools) {
        std::vector<Id> found = pool.named(tool);
        if (found.empty()) {
            throw unsolved(need, {fmt::format("no repository has {}", tool)});
        }
        jobs.installs.push_back({std::move(found), {Reason::Kind::policy_compiler}});
    }
    for (const char* tool : recipe_tools) {
        if (std::vector<Id> found = pool.named(tool); !found.empty()) {
            jobs.installs.push_back({std::move(found), {Reason::Kind::policy_compiler}});
        }
    }
    Solution solution = solve(pool, jobs, false);
    if (!solution.solved) {
        throw unsolved(need, solution.problems);
    }
    return solution;
}

}  // namespace

void add_policy_root(const Universe& universe, const std::vector<std::filesystem::path>& modules,
                     Outcome& outcome) {
    if (!outcome.chosen) {
        return;
    }
    try {
        const std::optional<InterfaceNeed> need = needs_interfaces(modules);
        if (!need) {
            return;
        }
        const std::optional<Id> policy =
            policy_of(universe.pool(), outcome.chosen->solution.packages);
        if (!policy) {
            throw no_policy(*need);
        }
        outcome.chosen->policy_root = solve_policy_root(universe.pool(), *need, *policy);
    } catch (const Error& problem) {
        outcome.chosen.reset();
        outcome.failure = problem;
    }
}

}  // namespace edgegpu
