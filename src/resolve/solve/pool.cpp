#include "resolve/solve/pool.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "resolve/metadata/repo_cache.hpp"
#include "resolve/solve/installed.hpp"
#include "resolve/solve/supplements.hpp"
#include "support/error.hpp"
#include "support/text/nevra.hpp"
#include "support/text/number.hpp"

namespace edgegpu {

namespace {

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

/// Whether createrepo_c lists such paths in primary metadata.
bool is_in_primary(std::string_view path) {
    return path.starts_with("/etc/") || path == "/usr/lib/sendmail" ||
           path.find("bin/") != std::string_view::npos;
}

/// The epoch of "EPOCH:VERSION-RELEASE", 0 if omitted; nothing if it is not a 32-bit number.
std::optional<std::uint32_t> epoch_of(std::string_view evr) {
    const std::size_t colon = evr.find(':');
    if (colon == std::string_view::npos) {
        return 0;
    }
    return whole_number<std::uint32_t>(evr.substr(0, colon));
}

/// libsolv's name of a checksum type.
std::string checksum_type(Id type) {
    const char* name = solv_chksum_type2str(type);
    return name != nullptr ? name : "";
}

}  // namespace

PackagePool::PackagePool(const Context& ctx, std::vector<RepositoryMetadata> repositories,
                         const std::string& architecture, const InstalledPackages* installed)
    : metadata_(std::move(repositories)), pool_(pool_create()) {
    pool_setdisttype(pool_.get(), DISTTYPE_RPM);
    pool_setarch(pool_.get(), architecture.c_str());
    pool_set_flag(pool_.get(), POOL_FLAG_WHATPROVIDESWITHDISABLED, 1);
    pool_setnamespacecallback(pool_.get(), answer_namespace, this);
    for (const RepositoryMetadata& metadata : metadata_) {
        load(ctx, metadata);
    }
    if (installed != nullptr) {
        add_installed(pool_.get(), *installed);
        installed_ = pool_->installed;
        installed_uname_ = installed->kernel_uname;
    }
    for (Id id = 2; id < pool_->nsolvables; ++id) {
        if (pool_->solvables[id].repo != nullptr) {
            packages_.push_back(id);
        }
    }
    index_names();
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
    // Valid as long as metadata_, whose size never changes.
    repo->appdata = const_cast<void*>(static_cast<const void*>(&metadata));
    load_primary(metadata, repo);
    rewrite_supplements(repo);
}

void PackagePool::index_names() {
    first_of_name_.assign(static_cast<std::size_t>(pool_->ss.nstrings), 0);
    next_of_name_.assign(static_cast<std::size_t>(pool_->nsolvables), 0);
    for (auto id = packages_.rbegin(); id != packages_.rend(); ++id) {
        Id& first = first_of_name_[static_cast<std::size_t>(solvable(*id)->name)];
        next_of_name_[static_cast<std::size_t>(*id)] = first;
        first = *id;
    }
    first_of_name_[0] = 0;
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
        // Adding a solvable may have moved the others.
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
    return std::ranges::any_of(stand_ins_, [&](const auto& entry) { return entry.second == id; });
}

void PackagePool::prepare(const Context& ctx, const std::vector<PackageRequest>& requests) {
    std::set<Id> paths;
    IdQueue dependencies;
    for (const Id id : packages_) {
        if (!visible(id) || is_installed(id)) {
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
    std::erase_if(paths, [&](Id path) { return is_in_primary(pool_id2str(pool_.get(), path)); });
    bool more = !std::exchange(prepared_, true);
    for (std::size_t i = 0; i < metadata_.size() && !paths.empty(); ++i) {
        Repo* repo = pool_id2repo(pool_.get(), static_cast<Id>(i) + 1);
        const std::set<Id> known = provided_paths(repo);
        if (!std::includes(known.begin(), known.end(), paths.begin(), paths.end())) {
            more = load_files(ctx, repo) || more;
        }
    }
    // whatprovides covers hidden packages too: it only needs to be rebuilt for new file lists.
    if (more) {
        add_file_provides();
        pool_createwhatprovides(pool_.get());
    }
}

void PackagePool::add_file_provides() {
    IdQueue searched;
    pool_addfileprovides_queue(pool_.get(), searched.get(), nullptr);
    for (std::size_t i = 0; i < metadata_.size(); ++i) {
        Repo* repo = pool_id2repo(pool_.get(), static_cast<Id>(i) + 1);
        std::set<Id> complete(searched.begin(), searched.end());
        if (!with_files_.contains(repo->repoid)) {
            std::erase_if(complete,
                          [&](Id path) { return !is_in_primary(pool_id2str(pool_.get(), path)); });
        }
        save_provided_paths(metadata_[i], repo, complete);
    }
}

bool PackagePool::load_files(const Context& ctx, Repo* repo) {
    if (repo == installed_ || !with_files_.insert(repo->repoid).second) {
        return false;
    }
    RepositoryMetadata& metadata = metadata_[static_cast<std::size_t>(repo->repoid - 1)];
    load_filelists(ctx, metadata);
    if (!metadata.filelists.empty()) {
        load_file_lists(metadata, repo);
    }
    return true;
}

std::vector<std::string> PackagePool::files(const Context& ctx, Id id) {
    (void)load_files(ctx, solvable(id)->repo);
    std::vector<std::string> paths;
    Dataiterator iterator;
    dataiterator_init(&iterator, pool_.get(), nullptr, id, SOLVABLE_FILELIST, nullptr,
                      SEARCH_FILES | SEARCH_COMPLETE_FILELIST);
    while (dataiterator_step(&iterator) != 0) {
        paths.emplace_back(iterator.kv.str);
    }
    dataiterator_free(&iterator);
    std::ranges::sort(paths);
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
    nevra.epoch = epoch_of(evr).value_or(0);
    if (const std::size_t colon = evr.find(':'); colon != std::string::npos) {
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
    const Repository& from =
        *static_cast<const RepositoryMetadata*>(package->repo->appdata)->repository;
    const std::string what = "package " + result.nevra.text();
    // Checked here, because packages that are not installed do no harm.
    if (const char* evr = pool_id2str(pool_.get(), package->evr); !epoch_of(evr)) {
        throw error(ErrorKind::fetch,
                    "repository '{}': {}: the epoch of its version '{}' is not a number up to {}",
                    from.id, what, evr, UINT32_MAX)
            .hinted(fmt::format("leave it out with excludepkgs = [\"{}\"] of the repository, or "
                                "report this to its maintainer",
                                result.nevra.name));
    }
    unsigned medium = 0;
    const char* href = solvable_lookup_location(package, &medium);
    const char* base = solvable_lookup_str(package, SOLVABLE_MEDIABASE);
    FilePlace place =
        file_place(from, what, base != nullptr ? base : "", href != nullptr ? href : "");
    result.base = std::move(place.base);
    result.location = std::move(place.location);
    Id type = 0;
    const char* digest = solvable_lookup_checksum(package, SOLVABLE_CHECKSUM, &type);
    result.checksum = accepted_checksum(from, what, digest != nullptr ? checksum_type(type) : "",
                                        digest != nullptr ? digest : "");
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
    std::ranges::sort(found);
    return found;
}

std::vector<Id> PackagePool::with_name(Id name) const {
    std::vector<Id> found;
    const auto index = static_cast<std::size_t>(name);
    // Names that were added to the pool after loading have no package.
    Id id = index < first_of_name_.size() ? first_of_name_[index] : 0;
    for (; id != 0; id = next_of_name_[static_cast<std::size_t>(id)]) {
        found.push_back(id);
    }
    return found;
}

std::vector<std::string> PackagePool::visible_names() const {
    std::vector<bool> seen(static_cast<std::size_t>(pool_->ss.nstrings));
    std::vector<std::string> names;
    for (const Id id : packages_) {
        const auto index = static_cast<std::size_t>(solvable(id)->name);
        if (visible(id) && !seen[index]) {
            seen[index] = true;
            names.push_back(name(id));
        }
    }
    return names;
}

std::vector<Id> PackagePool::named(const std::string& name) const {
    std::vector<Id> found = with_name(pool_str2id(pool_.get(), name.c_str(), 0));
    std::erase_if(found, [&](Id id) { return !visible(id); });
    sort_best_first(found);
    return found;
}

void PackagePool::sort_best_first(std::vector<Id>& ids) const {
    std::ranges::sort(ids, [&](Id left, Id right) {
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
