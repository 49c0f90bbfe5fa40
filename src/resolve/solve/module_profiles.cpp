#include "resolve/solve/module_profiles.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "blueprint/module_spec.hpp"
#include "resolve/modules/modules_lost.hpp"
#include "support/error.hpp"
#include "support/ranges.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

namespace {

/// Adds jobs for the module profiles of requests "@MODULE…".
class ProfileReader {
public:
    ProfileReader(const PackagePool& pool, const ModuleSelection& modules, Jobs& jobs)
        : pool_(pool), modules_(modules), jobs_(jobs) {}

    /// False if `text` matches no enabled module.
    bool add(const std::string& text, const SourceLocation& location) {
        const auto spec = parse_module_spec(text);
        if (!spec) {
            return false;
        }
        std::map<std::string, std::vector<const ModuleStream*>> found;
        for (const ModuleStream& document : modules_.active) {
            if (matches(*spec, document)) {
                found[document.id.name].push_back(&document);
            }
        }
        bool any = false;
        for (const auto& [module, documents] : found) {
            any = add_module(*spec, documents, location) || any;
        }
        return any;
    }

private:
    static std::string id_of(const ModuleStream& stream) {
        return fmt::format("{}:{}", stream.id.name, stream.id.stream);
    }

    static Error located(Error failure, const SourceLocation& location) {
        return failure.traced(fmt::format("requested at {}", location.text()));
    }

    /// If several versions match, profiles are those of the newest, packages those of all.
    bool add_module(const ModuleSpec& spec, const std::vector<const ModuleStream*>& documents,
                    const SourceLocation& location) {
        const ModuleStream& newest = **std::max_element(
            documents.begin(), documents.end(), [](const auto* left, const auto* right) {
                return document_version(left->id.version) < document_version(right->id.version);
            });
        std::vector<std::string> profiles;
        if (spec.profile.empty()) {
            profiles = default_profiles(newest, location);
        } else {
            for (const std::string& name : keys_of(newest.profiles)) {
                if (glob_or_any(spec.profile, name)) {
                    profiles.push_back(name);
                }
            }
            if (profiles.empty()) {
                throw no_profile(spec, newest, location);
            }
        }
        std::set<std::string> artifacts;
        for (const ModuleStream* document : documents) {
            artifacts.insert(document->artifacts.begin(), document->artifacts.end());
        }
        for (const std::string& profile : profiles) {
            add_profile(newest, profile, artifacts, location);
        }
        return true;
    }

    static Error no_profile(const ModuleSpec& spec, const ModuleStream& stream,
                            const SourceLocation& location) {
        Error failure = error(ErrorKind::unsolvable, "module {} has no profile '{}'", id_of(stream),
                              spec.profile);
        const std::vector<std::string> names = keys_of(stream.profiles);
        failure.hinted(names.empty() ? fmt::format("it has no profiles at all: enable it with "
                                                   "[[enabled_modules]] and name its packages")
                                     : fmt::format("its profiles: {}", fmt::join(names, ", ")));
        return located(std::move(failure), location);
    }

    [[nodiscard]] std::vector<std::string> default_profiles(const ModuleStream& stream,
                                                            const SourceLocation& location) const {
        const auto module = modules_.default_profiles.find(stream.id.name);
        std::vector<std::string> profiles;
        if (module != modules_.default_profiles.end()) {
            const auto known = module->second.find(stream.id.stream);
            if (known != module->second.end()) {
                profiles = known->second;
            }
        }
        for (const std::string& profile : profiles) {
            if (!stream.profiles.contains(profile)) {
                throw located(
                    error(ErrorKind::unsolvable, "module {} does not have its default profile '{}'",
                          id_of(stream), profile),
                    location)
                    .hinted(fmt::format("name a profile: {}",
                                        fmt::join(keys_of(stream.profiles), ", ")));
            }
        }
        if (!profiles.empty()) {
            return profiles;
        }
        const std::vector<std::string> names = keys_of(stream.profiles);
        if (names.empty()) {
            throw located(error(ErrorKind::unsolvable, "module {} has no profiles", id_of(stream)),
                          location)
                .hinted("enable it with [[enabled_modules]] and name its packages");
        }
        throw located(
            error(ErrorKind::unsolvable, "module {} has no default profile", id_of(stream)),
            location)
            .hinted(fmt::format("name one, as in \"@{}/{}\"; its profiles: {}", id_of(stream),
                                names.front(), fmt::join(names, ", ")));
    }

    /// Packages of the module or of hot-fix repositories, else any others: a profile may name
    /// packages outside of the module.
    [[nodiscard]] std::vector<Id> packages(const std::string& name,
                                           const std::set<std::string>& artifacts) const {
        const std::vector<Id> all = pool_.named(name);
        std::vector<Id> own;
        std::copy_if(all.begin(), all.end(), std::back_inserter(own), [&](Id id) {
            return artifacts.contains(pool_.nevra_with_epoch(id)) || is_hotfix(id);
        });
        return own.empty() ? all : own;
    }

    [[nodiscard]] bool is_hotfix(Id id) const {
        const std::string repository = pool_.solvable(id)->repo->name;
        const auto& all = pool_.repositories();
        return std::any_of(all.begin(), all.end(), [&](const RepositoryMetadata& metadata) {
            return metadata.resolved.id == repository && metadata.repository->module_hotfixes;
        });
    }

    void add_profile(const ModuleStream& stream, const std::string& profile,
                     const std::set<std::string>& artifacts, const SourceLocation& location) {
        const Reason why{Reason::Kind::profile, stream.id.name, stream.id.stream, profile};
        for (const std::string& name : stream.profiles.at(profile)) {
            std::vector<Id> found = packages(name, artifacts);
            if (found.empty()) {
                throw located(error(ErrorKind::unsolvable, "package '{}' of {} is in no repository",
                                    name, why.text()),
                              location);
            }
            jobs_.installs.push_back({std::move(found), why});
        }
    }

    const PackagePool& pool_;
    const ModuleSelection& modules_;
    Jobs& jobs_;
};

}  // namespace

bool add_module_profiles(const PackagePool& pool, const ModuleSelection& modules,
                         const std::string& text, const SourceLocation& location, Jobs& jobs) {
    return ProfileReader(pool, modules, jobs).add(text, location);
}

}  // namespace edgegpu
