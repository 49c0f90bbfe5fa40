#include <algorithm>

#include "resolve/metadata/solv.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/modules/modules_lost.hpp"
#include "support/error.hpp"
#include "support/handles.hpp"
#include "support/ranges.hpp"

namespace edgegpu {

namespace {

bool has_version(const ModuleStream& stream, const std::string& version) {
    return std::ranges::any_of(stream.artifacts, [&](const auto& nevra) {
        return nevra.find(":" + version + "-") != std::string::npos;
    });
}

/// Module documents as packages of a separate pool, as in libdnf: a document provides its module
/// and stream, conflicts with other documents of its module, and requires streams.
class ModulePool {
public:
    ModulePool(const ModuleCatalogue& catalogue, const std::vector<StreamRequest>& requests)
        : catalogue_(catalogue), pool_(pool_create()) {
        pool_setdisttype(pool_.get(), DISTTYPE_RPM);
        Repo* repo = repo_create(pool_.get(), "modules");
        // libsolv chooses the first of several equivalent ones.
        std::vector<const ModuleStream*> documents =
            pointers_to(catalogue.streams,
                        [&](const ModuleStream& stream) { return !passed_over(stream, requests); });
        std::ranges::stable_sort(documents, [](const auto* a, const auto* b) {
            return solvable_name(*a) < solvable_name(*b);
        });
        std::set<std::string> platforms;
        for (const ModuleStream* document : documents) {
            add(repo, *document, platforms);
        }
        add_platforms(repo, platforms);
        pool_createwhatprovides(pool_.get());
    }

    /// The documents that satisfy the requests, and as many of the defaults as possible; nothing if
    /// the requests conflict or a dependency is missing. `causes` receives the reasons.
    std::optional<std::vector<const ModuleStream*>> solve(
        const std::vector<StreamRequest>& requests,
        const std::map<std::string, std::string>& defaults,
        std::vector<std::string>* causes = nullptr) {
        // As in dnf: the newest documents, or older ones if there is no solution.
        for (const int best : {SOLVER_FORCEBEST, 0}) {
            IdQueue jobs;
            for (const StreamRequest& request : requests) {
                add_job(request.name, request.stream, best, jobs);
            }
            for (const auto& [module, stream] : defaults) {
                add_job(module, stream, best | SOLVER_WEAK, jobs);
            }
            const Handle<Solver, solver_free> solver(solver_create(pool_.get()));
            solver_set_flag(solver.get(), SOLVER_FLAG_IGNORE_RECOMMENDED, 1);
            solver_set_flag(solver.get(), SOLVER_FLAG_BEST_OBEY_POLICY, 1);
            solver_set_flag(solver.get(), SOLVER_FLAG_YUM_OBSOLETES, 1);
            if (solver_solve(solver.get(), jobs.get()) == 0) {
                return installed(solver.get());
            }
            if (causes != nullptr) {
                *causes = problems(solver.get());
            }
        }
        return std::nullopt;
    }

private:
    static std::string solvable_name(const ModuleStream& stream) {
        return fmt::format("{}:{}:{}", stream.id.name, stream.id.stream, stream.id.context);
    }

    /// Whether a request prefers documents with an artifact of some version, and others of the
    /// stream, but not this one, have it.
    [[nodiscard]] bool passed_over(const ModuleStream& stream,
                                   const std::vector<StreamRequest>& requests) const {
        return std::ranges::any_of(requests, [&](const StreamRequest& request) {
            return !request.version.empty() && request.name == stream.id.name &&
                   request.stream == stream.id.stream && !has_version(stream, request.version) &&
                   std::ranges::any_of(catalogue_.streams, [&](const ModuleStream& other) {
                       return other.id.name == request.name && other.id.stream == request.stream &&
                              has_version(other, request.version);
                   });
        });
    }

    Id id(const std::string& text) { return pool_str2id(pool_.get(), text.c_str(), 1); }
    Id capability(const std::string& module) { return id("module(" + module + ")"); }
    Id capability(const std::string& module, const std::string& stream) {
        return id(fmt::format("module({}:{})", module, stream));
    }

    void add(Repo* repo, const ModuleStream& document, std::set<std::string>& platforms) {
        const Id added = repo_add_solvable(repo);
        documents_[added] = &document;
        Solvable* solvable = pool_id2solvable(pool_.get(), added);
        solvable->name = id(solvable_name(document));
        solvable->evr = id(document.id.version);
        solvable->arch = ARCH_NOARCH;
        const Id module = capability(document.id.name);
        solvable_add_deparray(solvable, SOLVABLE_PROVIDES, module, -1);
        solvable_add_deparray(solvable, SOLVABLE_PROVIDES,
                              capability(document.id.name, document.id.stream), -1);
        solvable_add_deparray(solvable, SOLVABLE_CONFLICTS, module, -1);
        for (const auto& block : document.dependencies) {
            for (const auto& [needed, streams] : block) {
                require(solvable, needed, streams);
                if (needed == "platform") {
                    platforms.insert(streams.begin(), streams.end());
                }
            }
        }
    }

    /// "a" and "b" are alternatives, "-c" is excluded, an empty list allows any stream.
    void require(Solvable* solvable, const std::string& module,
                 const std::vector<std::string>& streams) {
        Id any_of = 0;
        for (const std::string& stream : streams) {
            if (stream.starts_with('-')) {
                solvable_add_deparray(solvable, SOLVABLE_CONFLICTS,
                                      capability(module, stream.substr(1)), -1);
                continue;
            }
            const Id one = capability(module, stream);
            any_of = any_of == 0 ? one : pool_rel2id(pool_.get(), any_of, one, REL_OR, 1);
        }
        solvable_add_deparray(solvable, SOLVABLE_REQUIRES,
                              any_of == 0 ? capability(module) : any_of, -1);
    }

    /// Adds the image's platform; if that is unknown, every platform that is required.
    void add_platforms(Repo* repo, const std::set<std::string>& wanted) {
        Solvable* solvable = pool_id2solvable(pool_.get(), repo_add_solvable(repo));
        solvable->name = id("platform");
        solvable->evr = id("0");
        solvable->arch = ARCH_NOARCH;
        solvable_add_deparray(solvable, SOLVABLE_PROVIDES, capability("platform"), -1);
        if (!catalogue_.platform.empty()) {
            solvable_add_deparray(solvable, SOLVABLE_PROVIDES,
                                  capability("platform", catalogue_.platform), -1);
            return;
        }
        for (const std::string& stream : wanted) {
            solvable_add_deparray(solvable, SOLVABLE_PROVIDES, capability("platform", stream), -1);
        }
    }

    void add_job(const std::string& module, const std::string& stream, int flags, IdQueue& jobs) {
        queue_push2(jobs.get(), SOLVER_INSTALL | SOLVER_SOLVABLE_PROVIDES | flags,
                    capability(module, stream));
    }

    std::vector<const ModuleStream*> installed(Solver* solver) {
        IdQueue decisions;
        solver_get_decisionqueue(solver, decisions.get());
        std::vector<const ModuleStream*> found;
        for (const Id decided : decisions) {
            if (const auto known = documents_.find(decided); known != documents_.end()) {
                found.push_back(known->second);
            }
        }
        return found;
    }

    std::vector<std::string> problems(Solver* solver) {
        std::vector<std::string> lines;
        IdQueue rules;
        solver_findallproblemrules(solver, 1, rules.get());
        for (const Id rule : rules) {
            Id from = 0;
            Id to = 0;
            Id dependency = 0;
            const SolverRuleinfo type = solver_ruleinfo(solver, rule, &from, &to, &dependency);
            const auto one = documents_.find(from);
            const auto other = documents_.find(to);
            std::string line;
            if (one == documents_.end()) {
                continue;
            }
            if (type == SOLVER_RULE_PKG_CONFLICTS && other != documents_.end() &&
                one->second->id.name != other->second->id.name) {
                line = fmt::format("{} excludes {}", one->second->text(), other->second->text());
            } else if (type == SOLVER_RULE_PKG_NOTHING_PROVIDES_DEP ||
                       type == SOLVER_RULE_PKG_REQUIRES) {
                line = fmt::format(
                    "{} requires {}{}", one->second->text(), pool_dep2str(pool_.get(), dependency),
                    type == SOLVER_RULE_PKG_REQUIRES ? "" : ", which nothing provides");
            }
            if (!line.empty() && std::ranges::find(lines, line) == lines.end()) {
                lines.push_back(line);
            }
        }
        return lines;
    }

    const ModuleCatalogue& catalogue_;
    Handle<Pool, pool_free> pool_;
    std::map<Id, const ModuleStream*> documents_;
};

Error unknown_stream(const ModuleCatalogue& catalogue, const StreamRequest& request) {
    const std::vector<std::string> streams = catalogue.stream_names(request.name);
    if (streams.empty()) {
        const std::vector<std::string> modules =
            mapped(catalogue.streams, [](const ModuleStream& stream) { return stream.id.name; });
        Error failure =
            error(ErrorKind::unsolvable, "no repository has a module '{}'", request.name);
        const std::vector<std::string> near = nearest_names(request.name, modules, 3);
        if (!near.empty()) {
            failure.hinted(fmt::format("did you mean {}?", fmt::join(near, ", ")));
        }
        return failure;
    }
    return error(ErrorKind::unsolvable, "module '{}' has no stream '{}'", request.name,
                 request.stream)
        .hinted(fmt::format("its streams: {}", fmt::join(streams, ", ")));
}

void check_request(const ModuleCatalogue& catalogue, const StreamRequest& request) {
    refuse_lost_request(catalogue, request);
    const std::vector<std::string> streams = catalogue.stream_names(request.name);
    if (std::ranges::find(streams, request.stream) == streams.end()) {
        throw unknown_stream(catalogue, request);
    }
}

/// The error for the first request that conflicts with those before it.
Error contradiction(ModulePool& pool, const std::vector<StreamRequest>& requests) {
    std::vector<StreamRequest> some;
    for (const StreamRequest& request : requests) {
        some.push_back(request);
        std::vector<std::string> causes;
        if (!pool.solve(some, {}, &causes)) {
            Error failure =
                error(ErrorKind::unsolvable, "module {}:{} cannot be enabled{}", request.name,
                      request.stream, some.size() == 1 ? "" : " together with the other streams");
            for (const std::string& cause : causes) {
                failure.traced(cause);
            }
            return failure.traced(fmt::format("requested at {}", request.location.text()));
        }
    }
    return error(ErrorKind::unsolvable, "the module streams cannot be enabled together");
}

/// Default streams of modules without a requested stream.
std::map<std::string, std::string> open_defaults(const ModuleCatalogue& catalogue,
                                                 const std::vector<StreamRequest>& requests) {
    std::map<std::string, std::string> defaults = catalogue.defaults;
    for (const StreamRequest& request : requests) {
        defaults.erase(request.name);
    }
    std::erase_if(defaults, [](const auto& entry) { return entry.second.empty(); });
    return defaults;
}

void include(const ModuleCatalogue& catalogue, ModuleSelection& selection) {
    std::set<std::string> demodularized;
    for (const ModuleStream& stream : catalogue.streams) {
        const bool active = std::ranges::any_of(
            selection.enabled,
            [&](const ModuleStream& enabled) { return is_part_of(stream, enabled); });
        if (!active) {
            continue;
        }
        selection.active.push_back(stream);
        demodularized.insert(stream.demodularized.begin(), stream.demodularized.end());
        for (const std::string& artifact : stream.artifacts) {
            selection.included[artifact] = stream.text();
            if (!artifact.ends_with(".src") && !artifact.ends_with(".nosrc")) {
                selection.names.insert(artifact_name(artifact));
            }
        }
    }
    for (const std::string& name : demodularized) {
        selection.names.erase(name);
    }
    // If several documents list an artifact, the enabled one wins.
    for (const ModuleStream& stream : selection.enabled) {
        for (const std::string& artifact : stream.artifacts) {
            selection.included[artifact] = stream.text();
        }
    }
    for (const ModuleStream& stream : catalogue.streams) {
        for (const std::string& artifact : stream.artifacts) {
            if (!selection.included.contains(artifact)) {
                selection.excluded.insert(artifact);
            }
        }
    }
}

}  // namespace

ModuleSelection select_modules(const ModuleCatalogue& catalogue,
                               const std::vector<StreamRequest>& requests) {
    for (const StreamRequest& request : requests) {
        try {
            check_request(catalogue, request);
        } catch (Error& failure) {
            throw failure.traced(fmt::format("requested at {}", request.location.text()));
        }
    }
    ModuleSelection selection;
    selection.default_profiles = catalogue.default_profiles;
    if (catalogue.streams.empty()) {
        return selection;
    }
    ModulePool pool(catalogue, requests);
    const auto chosen = pool.solve(requests, open_defaults(catalogue, requests));
    if (!chosen) {
        throw contradiction(pool, requests);
    }
    for (const ModuleStream* document : *chosen) {
        selection.enabled.push_back(*document);
    }
    std::ranges::sort(selection.enabled, [](const auto& left, const auto& right) {
        return left.id.name < right.id.name;
    });
    include(catalogue, selection);
    return selection;
}

}  // namespace edgegpu
