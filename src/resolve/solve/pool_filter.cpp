#include <algorithm>
#include <map>
#include <set>

#include "blueprint/distro/distro.hpp"
#include "gpu/modalias.hpp"
#include "resolve/solve/pool.hpp"
#include "resolve/solve/supplements.hpp"

namespace edgegpu {

namespace {

/// Flags by id: whether a package matches one of the patterns.
std::vector<bool> matched(const PackagePool& pool, const std::vector<std::string>& patterns) {
    std::vector<bool> found(static_cast<std::size_t>(pool.get()->nsolvables));
    for (const std::string& pattern : patterns) {
        for (const Id id : matching_packages(pool, pattern)) {
            found[static_cast<std::size_t>(id)] = true;
        }
    }
    return found;
}

}  // namespace

void PackagePool::hide(Id id, Hidden reason) {
    Hidden& state = hidden_[static_cast<std::size_t>(id)];
    if (state == Hidden::no) {
        state = reason;
        MAPCLR(&considered_, id);
    }
}

std::map<Id, PackagePool::Rules> PackagePool::repository_rules(
    const std::vector<Repository>& repositories) const {
    std::map<Id, Rules> rules;
    for (Id id = 1; id < pool_->nrepos; ++id) {
        for (const Repository& repository : repositories) {
            if (repository.id == pool_id2repo(pool_.get(), id)->name) {
                rules[id] = {&repository, matched(*this, repository.excludepkgs),
                             matched(*this, repository.includepkgs)};
            }
        }
    }
    return rules;
}

void PackagePool::set_cards(const std::vector<std::string>& pci_ids) {
    std::vector<std::string> aliases;
    for (const std::string& pci_id : pci_ids) {
        const std::vector<std::string> card = card_aliases(pci_id);
        aliases.insert(aliases.end(), card.begin(), card.end());
    }
    if (aliases != aliases_) {
        aliases_ = std::move(aliases);
        // libsolv keeps the answers.
        pool_flush_namespaceproviders(pool_.get(), NAMESPACE_MODALIAS, 0);
    }
}

Id PackagePool::answer_namespace(Pool* pool, void* data, Id name, Id value) {
    // Those for languages and file systems are no: an image has what its blueprint asks for.
    return name == NAMESPACE_MODALIAS &&
                   matches_alias(pool_id2str(pool, value),
                                 static_cast<const PackagePool*>(data)->aliases_)
               ? 1
               : 0;
}

bool PackagePool::supports_card(Id id, const std::string& pci_id) const {
    const std::vector<std::string> aliases = card_aliases(pci_id);
    const std::vector<std::string> patterns = alias_patterns(pool_.get(), id);
    return std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return matches_alias(pattern, aliases); });
}

void PackagePool::filter(const Blueprint& blueprint, const ModuleSelection& modules) {
    // dnf answers no such question, whatever the cards are.
    set_cards(blueprint.nvidia && is_suse(blueprint.distro) ? blueprint.nvidia->devices
                                                            : std::vector<std::string>());
    // pool_installable() uses `considered`: it must not see the previous filter.
    pool_->considered = nullptr;
    map_setall(&considered_);
    hidden_.assign(hidden_.size(), Hidden::no);
    const std::map<Id, Rules> rules = repository_rules(blueprint.repositories);
    std::vector<bool> excluded = matched(*this, blueprint.excludes);
    for (const std::string& name : blueprint.package_set.excludes) {
        for (const Id id : with_name(pool_str2id(pool_.get(), name.c_str(), 0))) {
            excluded[static_cast<std::size_t>(id)] = true;
        }
    }
    for (const auto& [id, rule] : rules) {
        pool_id2repo(pool_.get(), id)->priority = -rule.repository->priority;
    }
    std::set<Id> modular_names;
    for (const std::string& name : modules.names) {
        modular_names.insert(pool_str2id(pool_.get(), name.c_str(), 1));
    }
    const bool modular = !modules.included.empty() || !modules.excluded.empty();
    IdQueue provides;
    for (const Id id : packages_) {
        if (is_installed(id)) {
            continue;
        }
        Solvable* package = solvable(id);
        const Rules& rule = rules.at(package->repo->repoid);
        const auto index = static_cast<std::size_t>(id);
        if (!rule.repository->enabled) {
            hide(id, Hidden::repository);
            continue;
        }
        if (pool_installable(pool_.get(), package) == 0) {
            hide(id, Hidden::architecture);
            continue;
        }
        if (excluded[index] || rule.excluded[index] ||
            (!rule.repository->includepkgs.empty() && !rule.included[index])) {
            hide(id, Hidden::excluded);
        }
        if (rule.repository->module_hotfixes || !modular) {
            continue;
        }
        const std::string nevra = nevra_with_epoch(id);
        if (modules.included.contains(nevra)) {
            continue;
        }
        bool shadowed = modules.excluded.contains(nevra) || modular_names.contains(package->name);
        if (!shadowed && !modular_names.empty()) {
            lookup_ids(package, SOLVABLE_PROVIDES, provides);
            shadowed = std::ranges::any_of(provides, [&](Id provided) {
                const Id plain =
                    ISRELDEP(provided) != 0 ? GETRELDEP(pool_.get(), provided)->name : provided;
                return modular_names.contains(plain);
            });
        }
        if (shadowed) {
            hide(id, Hidden::module);
        }
    }
    pool_->considered = &considered_;
}

void PackagePool::limit(const std::function<bool(Id)>& keeps) {
    for (const Id id : packages_) {
        if (visible(id) && !is_installed(id) && !keeps(id)) {
            hide(id, Hidden::locked);
        }
    }
}

}  // namespace edgegpu
