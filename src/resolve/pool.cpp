#include "resolve/pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include "support/digest.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace edgegpu {

namespace {

namespace fs = std::filesystem;

using FilePtr = Handle<FILE, std::fclose>;
using Writer = Handle<Repowriter, repowriter_free>;

/// Raised whenever the content of the caches changes for the same metadata.
constexpr const char* cache_suffix = "-1.solv";

FilePtr open_metadata(const RepositoryMetadata& metadata, const fs::path& path) {
    FilePtr file(solv_xfopen(path.c_str(), "r"));
    if (!file) {
        throw error(ErrorKind::fetch, "repository '{}': cannot read {}", metadata.repository->id,
                    path.string());
    }
    return file;
}

bool load_cache(Repo* repo, const fs::path& path, int flags) {
    const FilePtr file(std::fopen(path.c_str(), "re"));
    return file && repo_add_solv(repo, file.get(), flags) == 0;
}

/// Writes the last repodata, or with `whole` the repository. A cache that cannot be written costs
/// time only, so failures are not reported.
void save_cache(Repo* repo, const fs::path& path, bool whole) {
    const fs::path part = path.string() + fmt::format(".{}", ::getpid());
    FilePtr file(std::fopen(part.c_str(), "we"));
    if (!file) {
        return;
    }
    const Writer writer(repowriter_create(repo));
    if (!whole) {
        repowriter_set_repodatarange(writer.get(), repo->nrepodata - 1, repo->nrepodata);
        repowriter_set_flags(writer.get(), REPOWRITER_NO_STORAGE_SOLVABLE);
    }
    bool good = repowriter_write(writer.get(), file.get()) == 0;
    good = std::fclose(file.release()) == 0 && good;
    if (!good || std::rename(part.c_str(), path.c_str()) != 0) {
        std::remove(part.c_str());
    }
}

void add_file_lists(const RepositoryMetadata& metadata, Repo* repo) {
    constexpr int flags = REPO_EXTEND_SOLVABLES | REPO_LOCALPOOL;
    const fs::path cache = metadata.directory / (std::string("filelists") + cache_suffix);
    if (fs::exists(cache) && load_cache(repo, cache, flags)) {
        return;
    }
    const FilePtr file = open_metadata(metadata, metadata.filelists);
    if (repo_add_rpmmd(repo, file.get(), nullptr, flags) != 0) {
        throw error(ErrorKind::fetch, "repository '{}': invalid file lists: {}",
                    metadata.repository->id, pool_errstr(repo->pool));
    }
    save_cache(repo, cache, false);
}

/// Collects the paths in a dependency, which may be rich.
void collect_paths(Pool* pool, Id dependency, std::set<Id>& paths) {
    if (ISRELDEP(dependency) != 0) {
        const Reldep* relation = GETRELDEP(pool, dependency);
        collect_paths(pool, relation->name, paths);
        if (relation->flags > 7) {
            collect_paths(pool, relation->evr, paths);
        }
    } else if (*pool_id2str(pool, dependency) == '/') {
        paths.insert(dependency);
    }
}

/// Whether createrepo_c lists such a path in primary metadata already.
bool is_in_primary(std::string_view path) {
    return path.starts_with("/etc/") || path == "/usr/lib/sendmail" ||
           path.find("bin/") != std::string_view::npos;
}

bool matches_any(const PackagePool& pool, Id id, const std::vector<std::string>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return matches_package(pool, id, pattern);
    });
}

void check_location(const std::string& repository, const std::string& location) {
    const fs::path path(location);
    const bool outside =
        std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
    if (location.empty() || path.is_absolute() || outside ||
        location.find("://") != std::string::npos) {
        throw error(ErrorKind::fetch,
                    "repository '{}': package location '{}' is outside the repository", repository,
                    location);
    }
}

}  // namespace

PackagePool::PackagePool(const Context& ctx, std::vector<RepositoryMetadata> repositories,
                         const std::string& architecture)
    : metadata_(std::move(repositories)), pool_(pool_create()) {
    pool_setdisttype(pool_.get(), DISTTYPE_RPM);
    pool_setarch(pool_.get(), architecture.c_str());
    pool_set_flag(pool_.get(), POOL_FLAG_WHATPROVIDESWITHDISABLED, 1);
    for (const RepositoryMetadata& metadata : metadata_) {
        load(ctx, metadata);
    }
    for (Id id = 2; id < pool_->nsolvables; ++id) {
        if (pool_->solvables[id].repo != nullptr) {
            packages_.push_back(id);
        }
    }
    add_stand_ins();
    hidden_.assign(static_cast<std::size_t>(pool_->nsolvables), Hidden::no);
    map_init(&considered_, pool_->nsolvables);
    map_setall(&considered_);
}

PackagePool::~PackagePool() {
    pool_->considered = nullptr;
    map_free(&considered_);
}

void PackagePool::load(const Context& ctx, const RepositoryMetadata& metadata) {
    ctx.check_cancelled();
    const Repository& repository = *metadata.repository;
    Repo* repo = repo_create(pool_.get(), repository.id.c_str());
    repo->priority = -repository.priority;
    repo->subpriority = -repository.cost;
    // Lives as long as metadata_, which is never changed in size.
    repo->appdata = const_cast<void*>(static_cast<const void*>(&metadata));
    const fs::path cache = metadata.directory / (std::string("primary") + cache_suffix);
    if (fs::exists(cache)) {
        if (load_cache(repo, cache, 0)) {
            return;
        }
        repo_empty(repo, 1);
    }
    const FilePtr file = open_metadata(metadata, metadata.primary);
    if (repo_add_rpmmd(repo, file.get(), nullptr, 0) != 0) {
        throw error(ErrorKind::fetch, "repository '{}': invalid primary metadata: {}",
                    repository.id, pool_errstr(pool_.get()));
    }
    save_cache(repo, cache, true);
}

void PackagePool::add_stand_ins() {
    Pool* pool = pool_.get();
    const Id capability = pool_str2id(pool, "nvidia-kmod", 0);
    std::vector<Id> sources;
    for (const Id id : packages_) {
        const std::string_view name = pool_id2str(pool, solvable(id)->name);
        if (capability != 0 && name.starts_with("kmod-nvidia-") && name.ends_with("-dkms")) {
            sources.push_back(id);
        }
    }
    if (sources.empty()) {
        return;
    }
    Repo* repo = repo_create(pool, "compiled modules");
    for (const Id source : sources) {
        const Id id = repo_add_solvable(repo);
        // The new solvable may have moved the others.
        Solvable* stand_in = solvable(id);
        const Solvable* original = solvable(source);
        const std::string name = pool_id2str(pool, original->name);
        stand_in->name =
            pool_str2id(pool, (name.substr(0, name.size() - 4) + "compiled").c_str(), 1);
        stand_in->evr = original->evr;
        stand_in->arch = original->arch;
        IdQueue provides;
        lookup_ids(solvable(source), SOLVABLE_PROVIDES, provides);
        for (const Id provided : provides) {
            if (provided == capability ||
                (ISRELDEP(provided) != 0 && GETRELDEP(pool, provided)->name == capability)) {
                solvable_add_deparray(stand_in, SOLVABLE_PROVIDES, provided, 0);
            }
        }
        stand_ins_[source] = id;
    }
}

bool PackagePool::is_stand_in(Id id) const {
    return std::any_of(stand_ins_.begin(), stand_ins_.end(),
                       [&](const auto& entry) { return entry.second == id; });
}

void PackagePool::hide(Id id, Hidden reason) {
    Hidden& state = hidden_[static_cast<std::size_t>(id)];
    if (state == Hidden::no) {
        state = reason;
        MAPCLR(&considered_, id);
    }
}

void PackagePool::filter(const Blueprint& blueprint, const ModuleSelection& modules) {
    // pool_installable() knows of `considered` too: it must not see the last filter.
    pool_->considered = nullptr;
    map_setall(&considered_);
    hidden_.assign(hidden_.size(), Hidden::no);
    std::map<std::string, const Repository*> repositories;
    for (const Repository& repository : blueprint.repositories) {
        repositories[repository.id] = &repository;
    }
    for (std::size_t i = 0; i < metadata_.size(); ++i) {
        Repo* repo = pool_id2repo(pool_.get(), static_cast<Id>(i) + 1);
        repo->priority = -repositories.at(repo->name)->priority;
    }
    std::set<Id> modular_names;
    for (const std::string& name : modules.names) {
        modular_names.insert(pool_str2id(pool_.get(), name.c_str(), 1));
    }
    IdQueue provides;
    for (const Id id : packages_) {
        Solvable* package = solvable(id);
        const Repository& repository = *repositories.at(package->repo->name);
        if (!repository.enabled) {
            hide(id, Hidden::repository);
            continue;
        }
        if (pool_installable(pool_.get(), package) == 0) {
            hide(id, Hidden::architecture);
            continue;
        }
        if (matches_any(*this, id, blueprint.excludes) ||
            matches_any(*this, id, repository.excludepkgs) ||
            (!repository.includepkgs.empty() && !matches_any(*this, id, repository.includepkgs))) {
            hide(id, Hidden::excluded);
        }
        if (repository.module_hotfixes) {
            continue;
        }
        const std::string nevra = nevra_with_epoch(id);
        if (modules.included.contains(nevra)) {
            continue;
        }
        bool shadowed = modules.excluded.contains(nevra) || modular_names.contains(package->name);
        if (!shadowed && !modular_names.empty()) {
            lookup_ids(package, SOLVABLE_PROVIDES, provides);
            shadowed = std::any_of(provides.begin(), provides.end(), [&](Id provided) {
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
        if (visible(id) && !keeps(id)) {
            hide(id, Hidden::locked);
        }
    }
}

void PackagePool::prepare(const Context& ctx, const std::vector<PackageRequest>& requests) {
    std::set<Id> paths;
    IdQueue dependencies;
    for (const Id id : packages_) {
        if (!visible(id)) {
            continue;
        }
        lookup_ids(solvable(id), SOLVABLE_REQUIRES, dependencies);
        for (const Id dependency : dependencies) {
            collect_paths(pool_.get(), dependency, paths);
        }
    }
    for (const PackageRequest& request : requests) {
        if (request.spec.starts_with('/')) {
            paths.insert(pool_str2id(pool_.get(), request.spec.c_str(), 1));
        }
    }
    const bool needed = std::any_of(paths.begin(), paths.end(), [&](Id path) {
        return !is_in_primary(pool_id2str(pool_.get(), path));
    });
    // What was made for all packages once holds whatever is hidden: only new file lists count.
    if (prepared_ && (!needed || with_files_.size() == metadata_.size())) {
        return;
    }
    prepared_ = true;
    if (needed) {
        for (std::size_t i = 0; i < metadata_.size(); ++i) {
            load_files(ctx, pool_id2repo(pool_.get(), static_cast<Id>(i) + 1));
        }
    }
    pool_addfileprovides(pool_.get());
    pool_createwhatprovides(pool_.get());
}

void PackagePool::load_files(const Context& ctx, Repo* repo) {
    if (!with_files_.insert(repo->repoid).second) {
        return;
    }
    RepositoryMetadata& metadata = metadata_[static_cast<std::size_t>(repo->repoid - 1)];
    load_filelists(ctx, metadata);
    if (!metadata.filelists.empty()) {
        add_file_lists(metadata, repo);
    }
}

std::vector<std::string> PackagePool::files(const Context& ctx, Id id) {
    load_files(ctx, solvable(id)->repo);
    std::vector<std::string> paths;
    Dataiterator iterator;
    dataiterator_init(&iterator, pool_.get(), nullptr, id, SOLVABLE_FILELIST, nullptr,
                      SEARCH_FILES | SEARCH_COMPLETE_FILELIST);
    while (dataiterator_step(&iterator) != 0) {
        paths.emplace_back(iterator.kv.str);
    }
    dataiterator_free(&iterator);
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::string PackagePool::name(Id id) const {
    return pool_id2str(pool_.get(), solvable(id)->name);
}

Nevra PackagePool::nevra(Id id) const {
    const Solvable* package = solvable(id);
    Nevra nevra;
    nevra.name = pool_id2str(pool_.get(), package->name);
    nevra.arch = pool_id2str(pool_.get(), package->arch);
    std::string evr = pool_id2str(pool_.get(), package->evr);
    if (const std::size_t colon = evr.find(':'); colon != std::string::npos) {
        std::from_chars(evr.data(), evr.data() + colon, nevra.epoch);
        evr.erase(0, colon + 1);
    }
    const std::size_t dash = evr.rfind('-');
    nevra.version = evr.substr(0, dash);
    nevra.release = dash == std::string::npos ? "" : evr.substr(dash + 1);
    return nevra;
}

std::string PackagePool::version(Id id) const {
    return nevra(id).version;
}

std::string PackagePool::nevra_with_epoch(Id id) const {
    const Nevra parts = nevra(id);
    return fmt::format("{}-{}:{}-{}.{}", parts.name, parts.epoch, parts.version, parts.release,
                       parts.arch);
}

ResolvedPackage PackagePool::resolved(Id id) const {
    Solvable* package = solvable(id);
    ResolvedPackage result;
    result.nevra = nevra(id);
    result.repository = package->repo->name;
    if (solvable_lookup_str(package, SOLVABLE_MEDIABASE) != nullptr) {
        throw error(ErrorKind::fetch, "repository '{}': package {} has an xml:base of its own",
                    result.repository, result.nevra.text())
            .hinted("such repositories are not supported: mirror the packages into one directory");
    }
    unsigned medium = 0;
    const char* location = solvable_lookup_location(package, &medium);
    result.location = location != nullptr ? location : "";
    check_location(result.repository, result.location);
    Id type = 0;
    const char* digest = solvable_lookup_checksum(package, SOLVABLE_CHECKSUM, &type);
    if (digest == nullptr || type != REPOKEY_TYPE_SHA256) {
        throw error(ErrorKind::fetch, "repository '{}': package {} has no SHA-256 in the metadata",
                    result.repository, result.nevra.text())
            .hinted("make the repository with createrepo_c --checksum sha256");
    }
    result.sha256 = digest;
    result.size = solvable_lookup_num(package, SOLVABLE_DOWNLOADSIZE, 0);
    result.build_time =
        static_cast<std::int64_t>(solvable_lookup_num(package, SOLVABLE_BUILDTIME, 0));
    return result;
}

std::vector<std::string> PackagePool::provided_versions(Id id,
                                                        const std::string& capability) const {
    std::vector<std::string> versions;
    const Id wanted = pool_str2id(pool_.get(), capability.c_str(), 0);
    if (wanted == 0) {
        return versions;
    }
    IdQueue provides;
    lookup_ids(solvable(id), SOLVABLE_PROVIDES, provides);
    for (const Id provided : provides) {
        if (provided == wanted) {
            versions.emplace_back();
        } else if (ISRELDEP(provided) != 0 && GETRELDEP(pool_.get(), provided)->name == wanted) {
            versions.emplace_back(pool_id2str(pool_.get(), GETRELDEP(pool_.get(), provided)->evr));
        }
    }
    return versions;
}

std::vector<Id> PackagePool::providers(const std::string& capability) const {
    std::vector<Id> found;
    const Id wanted = pool_str2id(pool_.get(), capability.c_str(), 0);
    if (wanted == 0) {
        return found;
    }
    const Id offset = static_cast<Id>(pool_whatprovides(pool_.get(), wanted));
    for (const Id* id = pool_->whatprovidesdata + offset; *id != 0; ++id) {
        found.push_back(*id);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<Id> PackagePool::named(const std::string& name) const {
    std::vector<Id> found;
    const Id wanted = pool_str2id(pool_.get(), name.c_str(), 0);
    for (const Id id : packages_) {
        if (wanted != 0 && solvable(id)->name == wanted && visible(id)) {
            found.push_back(id);
        }
    }
    sort_best_first(found);
    return found;
}

void PackagePool::sort_best_first(std::vector<Id>& ids) const {
    std::sort(ids.begin(), ids.end(), [&](Id left, Id right) {
        const Solvable* a = solvable(left);
        const Solvable* b = solvable(right);
        if (a->repo->priority != b->repo->priority) {
            return a->repo->priority > b->repo->priority;
        }
        const int order = pool_evrcmp(pool_.get(), a->evr, b->evr, EVRCMP_COMPARE);
        return order != 0 ? order > 0 : left < right;
    });
}

}  // namespace edgegpu
