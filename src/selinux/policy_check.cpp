#include "selinux/policy_check.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "selinux/policy/gpu_access.hpp"
#include "selinux/policy/policydb.hpp"
#include "selinux/policy/rules.hpp"
#include "support/error.hpp"
#include "support/files/data_directory.hpp"

namespace edgegpu::selinux {

namespace fs = std::filesystem;

namespace {

/// The newest "policy.NN" of the result.
PolicyDb finished_policy(const Context& ctx, const PolicyResult& policy) {
    const std::string directory = "/etc/selinux/" + policy.type + "/policy/";
    std::vector<std::string> names;
    for (const auto& [path, entry] : entries_below(policy.entries, directory)) {
        if (entry.type == EntryType::file) {
            names.push_back(path.substr(directory.size()));
        }
    }
    const std::string newest = newest_policy(names);
    if (newest.empty()) {
        throw error("the image has no binary policy in /etc/selinux/{}/policy", policy.type);
    }
    return {ctx, policy.entries.at(directory + newest).content};
}

/// Sources of the modules that a blueprint may name, shipped beside it or installed.
std::vector<fs::path> shipped_modules(const fs::path& blueprint) {
    std::vector<fs::path> result;
    for (const fs::path& directory : {blueprint.parent_path().parent_path(), data_directory()}) {
        std::error_code none;
        for (const auto& item : fs::directory_iterator(directory / "selinux", none)) {
            const fs::path extension = item.path().extension();
            const bool known = std::any_of(
                result.begin(), result.end(),
                [&](const fs::path& earlier) { return earlier.stem() == item.path().stem(); });
            if ((extension == ".te" || extension == ".cil") && !known) {
                result.push_back(item.path());
            }
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

}  // namespace

void check_policy(const Context& ctx, const SelinuxRequest& request, const fs::path& blueprint,
                  const PolicyResult& policy) {
    if (request.require.empty() && request.forbid.empty() && !request.gpu_containers) {
        return;
    }
    const PolicyDb finished = finished_policy(ctx, policy);
    if (request.gpu_containers && finished.first_denied(gpu_rule())) {
        throw error("{}: containers cannot access the GPU: the finished policy lacks \"{}\"",
                    request.location.text(), gpu_rule().text())
            .traced("chosen: " + policy.gpu_access)
            .hinted("remove gpu_containers, and name booleans and modules in [selinux] yourself");
    }
    const auto modules = [&] {
        return store_modules(policy.entries, "/etc/selinux/" + policy.type);
    };
    check_rules(finished, request.require, request.forbid, {modules, shipped_modules(blueprint)});
}

}  // namespace edgegpu::selinux
