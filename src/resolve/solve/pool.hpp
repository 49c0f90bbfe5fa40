#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "resolve/metadata/metadata.hpp"
#include "resolve/metadata/solv.hpp"
#include "resolve/modules/modules.hpp"
#include "resolve/resolution.hpp"
#include "support/context.hpp"
#include "support/handles.hpp"

namespace edgegpu {

/// Why a package takes no part in the solve.
enum class Hidden : std::uint8_t {
    no,            ///< it does take part
    architecture,  ///< built for another architecture, or a source package
    excluded,      ///< matched by `excludes` or `excludepkgs`, or left out by `includepkgs`
    module,        ///< filtered out by modular filtering
    repository,    ///< its repository is disabled
    locked         ///< not what the lockfile holds
};

/// All packages of all repositories in one libsolv pool. Life cycle: construct (loads), `filter`,
/// `prepare`, then match and solve.
class PackagePool {
public:
    /// Loads every repository from its .solv cache, or from XML (and writes the cache).
    /// Throws ErrorKind::fetch naming the repository if its metadata cannot be parsed.
    PackagePool(const Context& ctx, std::vector<RepositoryMetadata> repositories,
                const std::string& architecture);
    ~PackagePool();
    PackagePool(const PackagePool&) = delete;
    PackagePool& operator=(const PackagePool&) = delete;

    /// Hides what architecture, disabled repositories, excludes and modules rule out, and shows the
    /// rest again: filtering anew, with another blueprint of the same repositories too, costs
    /// milliseconds where loading costs many times that.
    void filter(const Blueprint& blueprint, const ModuleSelection& modules);
    /// Hides what is visible and `keeps` refuses, as Hidden::locked, until the next `filter`.
    void limit(const std::function<bool(Id)>& keeps);
    /// Makes dependencies resolvable; downloads file lists where a visible package or a request
    /// needs a path that primary metadata leave out.
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

    /// For every package of DKMS sources (kmod-nvidia-…-dkms) the package that compiling it for the
    /// image leads to: it provides the same `nvidia-kmod` and requires nothing, so that neither
    /// compiler nor dkms is drawn into the image. Stand-ins are no members of `packages`, and a
    /// solve takes none but the one its jobs name.
    [[nodiscard]] const std::map<Id, Id>& stand_ins() const noexcept { return stand_ins_; }
    [[nodiscard]] bool is_stand_in(Id id) const;

    [[nodiscard]] std::string name(Id id) const;
    [[nodiscard]] std::string version(Id id) const;
    [[nodiscard]] Nevra nevra(Id id) const;
    /// The form that modulemd uses: the epoch is always written.
    [[nodiscard]] std::string nevra_with_epoch(Id id) const;
    /// Everything the blueprint's repository says about the package. Throws ErrorKind::fetch for
    /// a package without a checksum that the repository may use (accepted_checksum) or with a place
    /// that is not read from (file_place).
    [[nodiscard]] ResolvedPackage resolved(Id id) const;
    /// "epoch:version-release" of the Provides called `capability`, each as written; a Provides
    /// without version gives "".
    [[nodiscard]] std::vector<std::string> provided_versions(Id id,
                                                             const std::string& capability) const;
    /// All packages, visible or not, that provide `capability` in any version; ascending. Only
    /// after `prepare`.
    [[nodiscard]] std::vector<Id> providers(const std::string& capability) const;
    /// All paths of a package, as its repository's file lists (downloaded if need be) have them.
    [[nodiscard]] std::vector<std::string> files(const Context& ctx, Id id);
    /// All packages, visible or not, of this name (0: none), ascending. Costs no look at others.
    [[nodiscard]] std::vector<Id> with_name(Id name) const;
    /// Names of the visible packages, each once.
    [[nodiscard]] std::vector<std::string> visible_names() const;
    /// Visible packages with exactly this name, best first: repository priority, newest version.
    [[nodiscard]] std::vector<Id> named(const std::string& name) const;
    /// Sorts packages best first: repository priority, newest version, id.
    void sort_best_first(std::vector<Id>& ids) const;

private:
    /// What a blueprint says of one repository: flags by package id.
    struct Rules {
        const Repository* repository = nullptr;
        std::vector<bool> excluded;
        std::vector<bool> included;
    };
    [[nodiscard]] std::map<Id, Rules> repository_rules(
        const std::vector<Repository>& repositories) const;
    void load(const Context& ctx, const RepositoryMetadata& metadata);
    /// False if they are loaded already.
    bool load_files(const Context& ctx, Repo* repo);
    void add_file_provides();
    void add_stand_ins();
    void index_names();
    void hide(Id id, Hidden reason);

    std::vector<RepositoryMetadata> metadata_;
    Handle<Pool, pool_free> pool_;
    Map considered_{};
    std::vector<Hidden> hidden_;
    std::vector<Id> packages_;
    /// name → its first package (0: none), and package → the next of the same name
    std::vector<Id> first_of_name_;
    std::vector<Id> next_of_name_;
    /// package of sources → stand-in
    std::map<Id, Id> stand_ins_;
    /// repositories whose file lists are loaded
    std::set<Id> with_files_;
    /// `prepare` ran
    bool prepared_ = false;
};

/// Packages, visible or not, that `pattern` means (see matches_package), ascending. Without globs
/// only packages of the names that `pattern` can begin with are looked at.
[[nodiscard]] std::vector<Id> matching_packages(const PackagePool& pool,
                                                const std::string& pattern);

/// Packages that an install spec means, as dnf understands it: name, name.arch, a NEVRA form
/// (globs allowed), a Provides ("x", "x >= 1"), a path. Visible ones only, unless `hidden_too`.
[[nodiscard]] std::vector<Id> match_spec(const PackagePool& pool, const std::string& spec,
                                         bool hidden_too = false);

/// Whether the package is meant by `pattern` (name, name.arch or another NEVRA form, with globs).
[[nodiscard]] bool matches_package(const PackagePool& pool, Id id, const std::string& pattern);

}  // namespace edgegpu
