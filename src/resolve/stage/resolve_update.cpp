#include "resolve/stage/resolve.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "log/console.hpp"
#include "resolve/explain/explain.hpp"
#include "resolve/search/universe.hpp"
#include "resolve/stage/resolve_images.hpp"
#include "support/error.hpp"
#include "support/text/nevra.hpp"

namespace edgegpu {

namespace {

/// Name and architecture, which at most one installed package has.
std::string slot(const Nevra& nevra) {
    return nevra.name + "." + nevra.arch;
}

std::string source_of(const PackagePool& pool, Id id) {
    const char* name = solvable_lookup_str(pool.solvable(id), SOLVABLE_SOURCENAME);
    const char* evr = solvable_lookup_str(pool.solvable(id), SOLVABLE_SOURCEEVR);
    // libsolv omits values that equal the package's own.
    return fmt::format("{} {}", name != nullptr ? name : pool.name(id),
                       evr != nullptr ? evr : pool.nevra(id).evr());
}

bool is_named(const Nevra& nevra, const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), nevra.name.c_str(), 0) == 0 ||
           ::fnmatch(pattern.c_str(), nevra.text().c_str(), 0) == 0;
}

/// Whether a pattern names a package of the image or of a root in which modules are compiled.
bool names_package(const Resolution& resolution, const std::string& pattern) {
    const auto matches = [&](const ResolvedPackage& package) {
        return is_named(package.nevra, pattern);
    };
    return std::ranges::any_of(resolution.packages, matches) ||
           std::ranges::any_of(resolution.build_root, matches) ||
           std::ranges::any_of(resolution.policy_root, matches) ||
           (resolution.dkms_source && matches(*resolution.dkms_source));
}

/// The locked packages that are kept; releases more of them if there is no solution.
class KeptPackages {
public:
    KeptPackages(const PackagePool& pool, const Resolution& locked) : pool_(pool), locked_(locked) {
        std::map<std::string, Kept> wanted;
        const auto want = [&](const ResolvedPackage& package, bool builds) {
            wanted.insert({package.nevra.text() + "@" + package.repository, {0, &package, builds}});
        };
        for (const ResolvedPackage& package : locked.packages) {
            want(package, false);
        }
        for (const auto* root : {&locked.build_root, &locked.policy_root}) {
            for (const ResolvedPackage& package : *root) {
                want(package, true);
            }
        }
        if (locked.dkms_source) {
            want(*locked.dkms_source, true);
        }
        for (const Id id : pool.packages()) {
            const auto found =
                wanted.find(pool.nevra(id).text() + "@" + pool.solvable(id)->repo->name);
            if (found != wanted.end()) {
                Kept kept = found->second;
                kept.id = id;
                kept_.insert({slot(kept.package->nevra), kept});
            }
        }
    }

    /// Releases packages that match the pattern, and packages of the same source, module or driver,
    /// which usually require each other in exactly one version. False if nothing matches.
    bool release_named(const std::string& pattern) {
        const bool locked = names_package(locked_, pattern);
        std::set<std::string> sources;
        std::set<std::string> modules;
        bool driver = false;
        for (const auto& [name, kept] : kept_) {
            if (matches_package(pool_, kept.id, pattern)) {
                sources.insert(source_of(pool_, kept.id));
                modules.insert(kept.package->module);
                driver = driver || is_of_driver(*kept.package);
            }
        }
        modules.erase("");
        std::erase_if(kept_, [&](const auto& entry) {
            return sources.contains(source_of(pool_, entry.second.id)) ||
                   modules.contains(entry.second.package->module) ||
                   (driver && is_of_driver(*entry.second.package));
        });
        return locked || !sources.empty();
    }

    /// Name and architecture of each package of the image that is kept.
    [[nodiscard]] std::set<std::string> slots() const {
        std::set<std::string> result;
        for (const auto& [name, kept] : kept_) {
            if (!kept.builds) {
                result.insert(name);
            }
        }
        return result;
    }

    /// Releases packages that may prevent a solution; false if none were kept.
    bool release(const Blueprint& blueprint, const Outcome& outcome) {
        if (kept_.empty()) {
            return false;
        }
        const std::size_t before = kept_.size();
        if (!outcome.unpaired.empty()) {
            // The new driver has no module for the locked kernel.
            release_named("kernel*");
        }
        if (outcome.refused) {
            release_slots(refuse(pool_, *outcome.refused, blueprint.weak_dependencies).rules);
        }
        if (kept_.size() == before) {
            // A build root without a solution does not appear in the rules of the image.
            std::erase_if(kept_, [](const auto& entry) { return entry.second.builds; });
        }
        if (kept_.size() == before) {
            // Nothing was solved, or no kept package is part of the problem.
            kept_.clear();
        }
        return true;
    }

    [[nodiscard]] bool allows(Id id) const {
        const auto [begin, end] = kept_.equal_range(slot(pool_.nevra(id)));
        return begin == end ||
               std::any_of(begin, end, [&](const auto& entry) { return entry.second.id == id; });
    }

    /// The locked documents of streams with kept packages, and all documents of others.
    [[nodiscard]] ModuleCatalogue catalogue(const ModuleCatalogue& all) const {
        std::map<std::string, const ModuleStream*> fixed;
        for (const ResolvedModule& module : locked_.modules) {
            const std::string text = fmt::format("{}:{}:{}:{}", module.name, module.stream,
                                                 module.version, module.context);
            const bool used = std::ranges::any_of(
                kept_, [&](const auto& entry) { return entry.second.package->module == text; });
            const auto there = std::ranges::find_if(
                all.streams, [&](const ModuleStream& known) { return known.text() == text; });
            if (used && there != all.streams.end()) {
                fixed[module.name] = &*there;
            }
        }
        ModuleCatalogue result = all;
        std::erase_if(result.streams, [&](const ModuleStream& stream) {
            const auto found = fixed.find(stream.id.name);
            return found != fixed.end() && stream.id.stream == found->second->id.stream &&
                   !is_part_of(stream, *found->second);
        });
        return result;
    }

private:
    struct Kept {
        Id id = 0;
        const ResolvedPackage* package = nullptr;
        /// Not a package of the image, but one that compiles modules.
        bool builds = false;
    };

    [[nodiscard]] bool is_of_driver(const ResolvedPackage& package) const {
        return !locked_.driver_version.empty() && package.nevra.version == locked_.driver_version;
    }

    void release_slots(const std::vector<ProblemRule>& rules) {
        for (const ProblemRule& rule : rules) {
            for (const Id id : {rule.from, rule.to}) {
                if (id > 0) {
                    kept_.erase(slot(pool_.nevra(id)));
                }
            }
            if (rule.dependency != 0) {
                const Id offset = static_cast<Id>(pool_whatprovides(pool_.get(), rule.dependency));
                for (const Id* id = pool_.get()->whatprovidesdata + offset; *id != 0; ++id) {
                    kept_.erase(slot(pool_.nevra(*id)));
                }
            }
        }
    }

    const PackagePool& pool_;
    const Resolution& locked_;
    /// By slot; image and build root may have different versions of a package.
    std::multimap<std::string, Kept> kept_;
};

/// What was passed over for the locked kernel and driver is no candidate while they are kept, and
/// is not found again: the lockfile's reasons stay as long as these two do.
void keep_passed_over(const Resolution& locked, Resolution& updated) {
    if (updated.kernel != locked.kernel || updated.driver_version != locked.driver_version) {
        return;
    }
    std::vector<PassedOver> all = locked.passed_over;
    for (PassedOver& passed : updated.passed_over) {
        const bool known = std::ranges::any_of(
            all, [&](const PassedOver& earlier) { return earlier.what == passed.what; });
        if (!known) {
            all.push_back(std::move(passed));
        }
    }
    updated.passed_over = std::move(all);
}

/// Each of the patterns, which name nothing that is locked, has to name something new.
void require_named(const Blueprint& blueprint, const Resolution& updated,
                   const std::vector<std::string>& patterns) {
    for (const std::string& pattern : patterns) {
        if (!names_package(updated, pattern) && !names_request(blueprint.containers, pattern)) {
            throw error(ErrorKind::usage,
                        "--update {}: no such package or image is locked, or needed anew", pattern)
                .hinted(
                    "packages by name or NEVRA, images by name, with or without the tag; globs "
                    "are allowed; what is new has to be in the blueprint first");
        }
    }
}

/// Packages of the image by name and architecture; of several versions, all.
std::map<std::string, std::vector<std::string>> texts_by_slot(const Resolution& resolution) {
    std::map<std::string, std::vector<std::string>> result;
    for (const ResolvedPackage& package : resolution.packages) {
        result[slot(package.nevra)].push_back(package.nevra.text());
    }
    return result;
}

/// Warns of each package that nobody wanted to be updated and that is there in another version.
void warn_of_moved(const Context& ctx, const Resolution& locked, const Resolution& updated,
                   const std::set<std::string>& available, const std::set<std::string>& released) {
    const auto now = texts_by_slot(updated);
    for (const auto& [name, before] : texts_by_slot(locked)) {
        const auto found = now.find(name);
        if (released.contains(name) || found == now.end() || found->second == before) {
            continue;
        }
        ctx.console->warn(fmt::format("{} does not stay: {}; now {}", fmt::join(before, ", "),
                                      available.contains(name) ? "what is new needs another version"
                                                               : "no repository has it any more",
                                      fmt::join(found->second, ", ")));
    }
}

}  // namespace

bool names_parent(const Resolution& locked, const std::string& pattern) {
    return locked.parent && ::fnmatch(pattern.c_str(), locked.parent->name.c_str(), 0) == 0;
}

Resolution resolve_update(const Context& ctx, const Blueprint& blueprint, const Resolution& locked,
                          const std::vector<std::string>& patterns, const ResolveOptions& options) {
    Universe universe(ctx, blueprint, Universe::Repositories::enabled, options.installed);
    KeptPackages kept_packages(universe.pool(), locked);
    const std::set<std::string> available = kept_packages.slots();
    std::vector<std::string> unlocked;
    std::set<std::string> released;
    for (const std::string& pattern : patterns) {
        for (const ResolvedPackage& package : locked.packages) {
            if (is_named(package.nevra, pattern)) {
                released.insert(slot(package.nevra));
            }
        }
        if (!kept_packages.release_named(pattern) && !names_image(locked.images, pattern) &&
            !names_parent(locked, pattern)) {
            unlocked.push_back(pattern);
        }
    }
    std::ranges::set_difference(available, kept_packages.slots(),
                                std::inserter(released, released.end()));
    Console console(Color::never, true);
    Context quiet = ctx;
    quiet.console = &console;
    while (true) {
        const ModuleCatalogue catalogue = kept_packages.catalogue(universe.catalogue());
        const Outcome outcome =
            solve_blueprint(quiet, universe, blueprint,
                            {&catalogue, [&](Id id) { return kept_packages.allows(id); }});
        if (outcome.chosen) {
            Resolution updated = describe_outcome(ctx, universe, outcome);
            require_named(blueprint, updated, unlocked);
            keep_passed_over(locked, updated);
            warn_of_moved(ctx, locked, updated, available, released);
            return updated;
        }
        if (!kept_packages.release(blueprint, outcome)) {
            throw explain(ctx, universe, blueprint, outcome, options.proof);
        }
    }
}

}  // namespace edgegpu
