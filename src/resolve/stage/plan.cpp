#include "resolve/stage/plan.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace edgegpu {

namespace {

/// The repository of a package, and the state from which the package was chosen.
Plan::Source source_of(const ResolvedPackage& package, const Resolution& resolution,
                       const std::vector<Repository>& repositories) {
    const auto repository = std::ranges::find_if(
        repositories, [&](const Repository& known) { return known.id == package.repository; });
    if (repository == repositories.end()) {
        throw error(ErrorKind::fetch,
                    "package {} comes from repository '{}', which the blueprint does not have",
                    package.nevra.text(), package.repository)
            .hinted("resolve the blueprint again without --locked");
    }
    const auto state = std::ranges::find_if(
        resolution.repositories,
        [&](const ResolvedRepository& known) { return known.id == repository->id; });
    return {*repository, state == resolution.repositories.end() ? "" : state->repomd_sha256};
}

}  // namespace

Plan make_plan(const Resolution& resolution, const std::vector<Repository>& repositories,
               const PlanOptions& options) {
    Plan plan;
    const auto add_source = [&](const ResolvedPackage& package) {
        if (!plan.sources.contains(package.repository)) {
            plan.sources.emplace(package.repository, source_of(package, resolution, repositories));
        }
    };
    plan.image = resolution.packages;
    plan.policy_root = resolution.policy_root;
    std::ranges::for_each(plan.image, add_source);
    std::ranges::for_each(plan.policy_root, add_source);
    if (resolution.dkms_source && !options.modules_compiled) {
        plan.module_build = {*resolution.dkms_source, resolution.build_root};
        add_source(plan.module_build->source);
        std::ranges::for_each(plan.module_build->packages, add_source);
    }
    return plan;
}

}  // namespace edgegpu
