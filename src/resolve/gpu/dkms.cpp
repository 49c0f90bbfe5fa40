#include "resolve/gpu/dkms.hpp"

#include <array>

#include <fmt/format.h>

#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

constexpr std::array compilers{"gcc", "make", "dkms"};

}  // namespace

Solution solve_build_root(const PackagePool& pool, const std::string& name, Id kernel) {
    Jobs jobs;
    Solution failed;
    const Solvable* wanted = pool.solvable(kernel);
    std::vector<Id> devel;
    for (const Id id : pool.named(name + "-devel")) {
        const bool fits =
            pool.solvable(id)->evr == wanted->evr && pool.solvable(id)->arch == wanted->arch;
        (fits ? devel : jobs.forbidden).push_back(id);
    }
    if (devel.empty()) {
        const Nevra nevra = pool.nevra(kernel);
        failed.problems.push_back(
            fmt::format("no repository has {}-devel-{}.{}", name, nevra.evr(), nevra.arch));
        return failed;
    }
    jobs.installs.push_back({std::move(devel), {Reason::Kind::module_compiler}});
    for (const char* tool : compilers) {
        std::vector<Id> found = pool.named(tool);
        if (found.empty()) {
            failed.problems.push_back(
                fmt::format("no repository has {}, which compiling needs", tool));
            return failed;
        }
        jobs.installs.push_back({std::move(found), {Reason::Kind::module_compiler}});
    }
    if (std::vector<Id> found = pool.named("elfutils-libelf-devel"); !found.empty()) {
        jobs.installs.push_back({std::move(found), {Reason::Kind::module_compiler}});
    }
    for (const Id id : pool.providers("nvidia-kmod")) {
        if (!pool.is_stand_in(id) && pool.visible(id)) {
            jobs.forbidden.push_back(id);
        }
    }
    return solve(pool, jobs, false);
}

std::vector<Id> hidden_build_tools(const PackagePool& pool, const std::string& name) {
    std::vector<std::string> names(compilers.begin(), compilers.end());
    names.push_back(name + "-devel");
    std::vector<Id> found;
    for (const std::string& tool : names) {
        if (pool.named(tool).empty()) {
            std::vector<Id> hidden = match_spec(pool, tool, true);
            pool.sort_best_first(hidden);
            found.insert(found.end(), hidden.begin(), hidden.begin() + (hidden.empty() ? 0 : 1));
        }
    }
    return found;
}

}  // namespace edgegpu
