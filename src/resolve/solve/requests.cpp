#include "resolve/solve/requests.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "resolve/solve/module_profiles.hpp"
#include "resolve/solve/package_set.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

std::string hidden_hint(const PackagePool& pool, const std::vector<Id>& hidden) {
    std::set<std::string> reasons;
    for (const Id id : hidden) {
        switch (pool.hidden(id)) {
            case Hidden::architecture:
                reasons.insert("it is built for another architecture");
                break;
            case Hidden::excluded:
                reasons.insert("excludes or includepkgs leave it out");
                break;
            case Hidden::module:
                reasons.insert("modular filtering hides it: enable its module stream");
                break;
            case Hidden::repository:
                reasons.insert(
                    fmt::format("its repository '{}' is disabled", pool.solvable(id)->repo->name));
                break;
            case Hidden::locked:
                reasons.insert("it is not what the lockfile holds");
                break;
            case Hidden::no:
                break;
        }
    }
    return fmt::format("{} exists, but {}", pool.nevra(hidden.front()).text(),
                       fmt::join(reasons, "; "));
}

Error no_match(const PackagePool& pool, const PackageRequest& request) {
    Error failure = error(ErrorKind::unsolvable, "no package matches '{}'", request.spec);
    failure.traced(fmt::format("requested at {}", request.location.text()));
    for (const SourceLocation& other : request.repeated) {
        failure.traced(fmt::format("requested at {}", other.text()));
    }
    const std::vector<Id> hidden = match_spec(pool, request.spec, true);
    if (!hidden.empty()) {
        return failure.hinted(hidden_hint(pool, hidden));
    }
    std::vector<std::string> provided;
    for (const auto& [package, path] : packages_with_program(pool, request.spec)) {
        provided.push_back(fmt::format("{} provides {}", package, path));
    }
    if (!provided.empty()) {
        return failure.hinted(fmt::format("{}", fmt::join(provided, ", ")));
    }
    const std::vector<std::string> near = nearest_names(request.spec, pool.visible_names(), 3);
    if (!near.empty()) {
        failure.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
    }
    return failure;
}

/// A request that matches nothing, and why.
struct Unmatched {
    const PackageRequest* request = nullptr;
    Error reason;
};

/// The only reason, or one Error with a line for each, in the order of the blueprint.
Error all_unmatched(std::vector<Unmatched> all) {
    if (all.size() == 1) {
        return all.front().reason;
    }
    std::ranges::stable_sort(all, [](const Unmatched& one, const Unmatched& other) {
        const SourceLocation& a = one.request->location;
        const SourceLocation& b = other.request->location;
        return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
    Error failure =
        error(ErrorKind::unsolvable, "{} requests of the blueprint cannot be met", all.size());
    for (const auto& [request, reason] : all) {
        const std::string says =
            reason.message() + (reason.hint().empty() ? "" : "; " + reason.hint());
        failure.traced(fmt::format("{}: {}", request->location.text(), says));
        for (const SourceLocation& other : request->repeated) {
            failure.traced(fmt::format("{}: the same", other.text()));
        }
    }
    return failure;
}

/// A glob requests every name that it matches; any other spec one package.
void add_package(const PackagePool& pool, const PackageRequest& request, Jobs& jobs) {
    const std::vector<Id> found = match_spec(pool, request.spec);
    if (found.empty()) {
        throw no_match(pool, request);
    }
    if (request.spec.find_first_of("*?[") == std::string::npos) {
        jobs.installs.push_back({found, {Reason::Kind::requested}});
        return;
    }
    std::map<std::string, std::vector<Id>> by_name;
    for (const Id id : found) {
        by_name[pool.name(id)].push_back(id);
    }
    for (auto& [name, ids] : by_name) {
        jobs.installs.push_back({std::move(ids), {Reason::Kind::requested}});
    }
}

class GroupReader {
public:
    GroupReader(const Context& ctx, const PackagePool& pool, const Comps& comps, Jobs& jobs)
        : ctx_(ctx), pool_(pool), comps_(comps), jobs_(jobs) {}

    /// Adds groups and environments with the id `pattern`, or else those that it matches as a
    /// case-insensitive glob, as in dnf.
    void add(const std::string& pattern, const SourceLocation& location) {
        const bool exact = comps_.groups.contains(pattern) || comps_.environments.contains(pattern);
        const auto means = [&](const std::string& id) {
            return exact ? id == pattern : fnmatch(pattern.c_str(), id.c_str(), FNM_CASEFOLD) == 0;
        };
        bool found = false;
        for (const auto& [id, members] : comps_.environments) {
            if (means(id)) {
                found = true;
                add_environment(members);
            }
        }
        for (const auto& [id, group] : comps_.groups) {
            if (means(id)) {
                found = true;
                add_group(id, group);
            }
        }
        if (!found) {
            throw unknown(pattern, location);
        }
    }

private:
    void add_environment(const std::vector<std::string>& members) {
        for (const std::string& member : members) {
            if (const auto group = comps_.groups.find(member); group != comps_.groups.end()) {
                add_group(member, group->second);
            }
        }
    }

    [[nodiscard]] Error unknown(const std::string& id, const SourceLocation& location) const {
        std::vector<std::string> ids = keys_of(comps_.groups);
        for (const auto& entry : comps_.environments) {
            ids.push_back(entry.first);
        }
        Error failure = error(ErrorKind::unsolvable, "no repository has a {} '{}'",
                              id.find_first_of(":/") == std::string::npos ? "group" : "module", id);
        failure.traced(fmt::format("requested at {}", location.text()));
        const std::vector<std::string> near = nearest_names(id, ids, 3);
        if (!near.empty()) {
            failure.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        } else if (!ids.empty() && ids.size() <= 20) {
            failure.hinted(fmt::format("available groups: {}", fmt::join(ids, ", ")));
        }
        return failure;
    }

    void add_group(const std::string& id, const PackageGroup& group) {
        for (const auto* names : {&group.mandatory, &group.standard}) {
            for (const std::string& name : *names) {
                std::vector<Id> found = pool_.named(name);
                if (found.empty()) {
                    ctx_.console->note(
                        fmt::format("group {}: no repository has its package {}", id, name));
                    continue;
                }
                jobs_.installs.push_back({std::move(found), {Reason::Kind::group, id}});
            }
        }
        for (const auto& [name, condition] : group.conditional) {
            if (!pool_.named(name).empty()) {
                jobs_.conditional.emplace_back(name, condition);
            }
        }
    }

    const Context& ctx_;
    const PackagePool& pool_;
    const Comps& comps_;
    Jobs& jobs_;
};

}  // namespace

std::map<std::string, std::string> packages_with_program(const PackagePool& pool,
                                                         const std::string& name) {
    constexpr std::size_t most = 3;
    std::map<std::string, std::string> found;
    if (name.find_first_of("/@*?[ ") != std::string::npos) {
        return found;
    }
    for (const char* directory : {"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"}) {
        const std::string path = directory + name;
        for (const Id id : match_spec(pool, path)) {
            if (found.size() < most) {
                found.emplace(pool.name(id), path);
            }
        }
    }
    return found;
}

Jobs request_jobs(const Context& ctx, const Blueprint& blueprint, const PackagePool& pool,
                  const Comps& comps, const ModuleSelection& modules) {
    Jobs jobs;
    // The blueprint's own requests come first: they are the better reason for packages that the
    // package set contains too.
    GroupReader groups(ctx, pool, comps, jobs);
    const auto add_group = [&](const PackageRequest& request) {
        const std::string text =
            request.spec.starts_with('@') ? request.spec.substr(1) : request.spec;
        // As in dnf, a module takes precedence over a group of the same name.
        if (!add_module_profiles(pool, modules, text, request.location, jobs)) {
            groups.add(text, request.location);
        }
    };
    std::vector<Unmatched> unmatched;
    const auto add_lines = [&](const std::vector<PackageRequest>& requests,
                               RequestLine::Table table) {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const std::size_t first = jobs.installs.size();
            try {
                if (table == RequestLine::Table::groups || requests[i].spec.starts_with('@')) {
                    add_group(requests[i]);
                } else {
                    add_package(pool, requests[i], jobs);
                }
            } catch (const Error& reason) {
                if (reason.kind() != ErrorKind::unsolvable) {
                    throw;
                }
                unmatched.push_back({&requests[i], reason});
            }
            for (std::size_t job = first; job < jobs.installs.size(); ++job) {
                jobs.installs[job].line = {table, i};
            }
        }
    };
    add_lines(blueprint.packages, RequestLine::Table::packages);
    add_lines(blueprint.groups, RequestLine::Table::groups);
    if (!unmatched.empty()) {
        throw all_unmatched(std::move(unmatched));
    }
    const std::vector<Install> set =
        package_set_installs(pool, blueprint.package_set, blueprint.excludes);
    if (blueprint.package_set.weak_dependencies && !blueprint.weak_dependencies) {
        jobs.recommended = recommended_by_set(pool, set, blueprint.kernel.name);
    }
    jobs.installs.insert(jobs.installs.end(), set.begin(), set.end());
    return jobs;
}

}  // namespace edgegpu
