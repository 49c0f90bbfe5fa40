#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/solv.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/resolution.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Why a package is not considered by the solver.
enum class Hidden : std::uint8_t {
    no,            ///< visible
    architecture,  ///< built for another architecture, or a source package
    excluded,      ///< matched by `excludes` or `excludepkgs`, or not by `includepkgs`
    module,        ///< filtered out by modular filtering
    repository,    ///< its repository is disabled
    locked         ///< hidden by `limit`: another version is locked
};

/// The packages of the parent (`[parent]`), which stay as they are.
struct InstalledPackages {
    /// what it is, for messages: "parent REF (CHECKSUM)"
    std::string name;
    /// of each package, as in the rpmdb
    std::vector<std::string> headers;
    /// "uname -r" of its kernel
    std::string kernel_uname;
};

/// All packages of all repositories in one libsolv pool. Construct it (which loads the metadata),
/// then call `filter` and `prepare` before matching and solving.
class PackagePool {
public:
    /// Loads every repository from its .solv cache, or from XML, and then writes the cache. Throws
    /// ErrorKind::fetch naming the repository if its metadata cannot be parsed.
    /// The image is a layer on `installed`, if that is given.
    PackagePool(const Context& ctx, std::vector<RepositoryMetadata> repositories,
                const std::string& architecture, const InstalledPackages* installed = nullptr);
    ~PackagePool();
    PackagePool(const PackagePool&) = delete;
    PackagePool& operator=(const PackagePool&) = delete;

    /// Hides packages that are ruled out by architecture, disabled repositories, excludes and
    /// modules, and shows all others. May be repeated, also for another blueprint with the same
    /// repositories: it takes milliseconds, much less than loading.
    void filter(const Blueprint& blueprint, const ModuleSelection& modules);
    /// Hides visible packages for which `keeps` is false as Hidden::locked, until the next
    /// `filter`.
    void limit(const std::function<bool(Id)>& keeps);
    /// Indexes Provides and paths; downloads file lists if a visible package or a request needs a
    /// path that is not in primary metadata.
    void prepare(const Context& ctx, const std::vector<PackageRequest>& requests);

    [[nodiscard]] Pool* get() const noexcept { return pool_.get(); }
    [[nodiscard]] Solvable* solvable(Id id) const { return pool_id2solvable(pool_.get(), id); }
    [[nodiscard]] Hidden hidden(Id id) const { return hidden_[static_cast<std::size_t>(id)]; }
    [[nodiscard]] bool visible(Id id) const { return hidden(id) == Hidden::no; }
    /// Ids of all packages, ascending.
    [[nodiscard]] const std::vector<Id>& packages() const noexcept { return packages_; }
    [[nodiscard]] const std::vector<RepositoryMetadata>& repositories() const noexcept {
        return metadata_;
    }

    /// The packages of the parent, or nullptr without one. They are among `packages`, always
    /// visible, and no solution contains them.
    [[nodiscard]] const ::Repo* installed() const noexcept { return installed_; }
    [[nodiscard]] bool is_installed(Id id) const {
        return installed_ != nullptr && solvable(id)->repo == installed_;
    }
    /// InstalledPackages::kernel_uname
    [[nodiscard]] const std::string& installed_uname() const noexcept { return installed_uname_; }

    /// Package with DKMS sources (kmod-nvidia-…-dkms) → stand-in for the package of modules
    /// compiled from it, which provides the same `nvidia-kmod` and has no dependencies, so that
    /// neither compiler nor dkms is installed in the image. Stand-ins are not in `packages`, and
    /// the solver may only install the one named by its jobs.
    [[nodiscard]] const std::map<Id, Id>& stand_ins() const noexcept { return stand_ins_; }
    [[nodiscard]] bool is_stand_in(Id id) const;

    [[nodiscard]] std::string name(Id id) const;
    /// Without epoch and release.
    [[nodiscard]] std::string version(Id id) const;
    [[nodiscard]] Nevra nevra(Id id) const;
    /// The form used in modulemd, in which the epoch is never omitted.
    [[nodiscard]] std::string nevra_with_epoch(Id id) const;
    /// The package with its location, checksum and size. Throws ErrorKind::fetch without an
    /// acceptable checksum (accepted_checksum) or location (file_place), or for an invalid epoch.
    [[nodiscard]] ResolvedPackage resolved(Id id) const;
    /// The versions ("epoch:version-release", as written) of the package's Provides named
    /// `capability`; "" for one without version.
    [[nodiscard]] std::vector<std::string> provided_versions(Id id,
                                                             const std::string& capability) const;
    /// Ids of all packages, visible or not, that provide `capability` in any version, ascending.
    /// Only after `prepare`.
    [[nodiscard]] std::vector<Id> providers(const std::string& capability) const;
    /// Whether a package's Supplements name the card with this PCI id ("10de:20b7").
    [[nodiscard]] bool supports_card(Id id, const std::string& pci_id) const;
    /// Whether the pool is filtered for a blueprint of SUSE's distributions that names cards: only
    /// then "modalias(…)" in Supplements is answered, from their PCI ids, never from the build
    /// machine's hardware.
    [[nodiscard]] bool has_cards() const noexcept { return !aliases_.empty(); }
    /// All paths of a package, sorted, from its repository's file lists, which are downloaded if
    /// necessary.
    [[nodiscard]] std::vector<std::string> files(const Context& ctx, Id id);
    /// Ids of all packages, visible or not, with this name (an id of the pool; 0: none), ascending.
    /// Uses an index.
    [[nodiscard]] std::vector<Id> with_name(Id name) const;
    /// Names of the visible packages, unique.
    [[nodiscard]] std::vector<std::string> visible_names() const;
    /// Visible packages with exactly this name, best first: repository priority, newest version.
    [[nodiscard]] std::vector<Id> named(const std::string& name) const;
    /// Sorts packages best first: repository priority, newest version, id.
    void sort_best_first(std::vector<Id>& ids) const;

private:
    /// The filters of one repository: flags by package id.
    struct Rules {
        const Repository* repository = nullptr;
        std::vector<bool> excluded;
        std::vector<bool> included;
    };
    [[nodiscard]] std::map<Id, Rules> repository_rules(
        const std::vector<Repository>& repositories) const;
    void load(const Context& ctx, const RepositoryMetadata& metadata);
    /// False if the file lists are already loaded.
    bool load_files(const Context& ctx, Repo* repo);
    void add_file_provides();
    void add_stand_ins();
    void index_names();
    void hide(Id id, Hidden reason);
    /// Which cards the solver sees.
    void set_cards(const std::vector<std::string>& pci_ids);
    /// libsolv's callback for dependencies of a namespace; `data` is the PackagePool.
    static Id answer_namespace(Pool* pool, void* data, Id name, Id value);

    std::vector<RepositoryMetadata> metadata_;
    Handle<Pool, pool_free> pool_;
    ::Repo* installed_ = nullptr;
    std::string installed_uname_;
    Map considered_{};
    std::vector<Hidden> hidden_;
    std::vector<Id> packages_;
    /// Name → first package of that name (0: none), and package → next one of the same name.
    std::vector<Id> first_of_name_;
    std::vector<Id> next_of_name_;
    /// Package with sources → stand-in.
    std::map<Id, Id> stand_ins_;
    /// Ids of repositories whose file lists are loaded.
    std::set<Id> with_files_;
    /// Of the blueprint's cards.
    std::vector<std::string> aliases_;
    /// Whether `prepare` has run.
    bool prepared_ = false;
};

/// Ids of packages, visible or not, that match `pattern` (see matches_package), ascending. Patterns
/// without globs are looked up by name.
[[nodiscard]] std::vector<Id> matching_packages(const PackagePool& pool,
                                                const std::string& pattern);

/// Packages that match an install spec as in dnf: name, name.arch, a NEVRA form (with globs), a
/// Provides ("x", "x >= 1"), or a path. Only visible ones; with `hidden_too` all, but only by name
/// and NEVRA.
[[nodiscard]] std::vector<Id> match_spec(const PackagePool& pool, const std::string& spec,
                                         bool hidden_too = false);

/// Whether the package matches `pattern` (name, name.arch or another NEVRA form, with globs).
[[nodiscard]] bool matches_package(const PackagePool& pool, Id id, const std::string& pattern);

}  // namespace edgegpu
