#include "compose/compose.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "cache/entry_lock.hpp"
#include "compose/composition_cache.hpp"
#include "compose/composition_key.hpp"
#include "compose/image_rpm.hpp"
#include "compose/leftovers.hpp"
#include "compose/parent_layout.hpp"
#include "compose/rpmdb.hpp"
#include "execution/parallel.hpp"
#include "image/account_files.hpp"
#include "image/overlay.hpp"
#include "rootfs/import.hpp"
#include "rootfs/lower.hpp"
#include "rootfs/order.hpp"
#include "rootfs/scriptlets.hpp"
#include "rootfs/unite.hpp"
#include "support/error.hpp"
#include "support/files/digest.hpp"
#include "support/files/file.hpp"

namespace edgegpu {

namespace fs = std::filesystem;

namespace {

/// The directories of one build, in its slot of `work/`. The lower layer is kept between builds.
struct Layers {
    fs::path lower;
    fs::path index;
    fs::path upper;
    fs::path overlay;
    fs::path root;
    fs::path scratch;

    Layers(const fs::path& work, const fs::path& visible)
        : lower(work / "lower"),
          index(work / "lower.index"),
          upper(work / "upper"),
          overlay(work / "overlay"),
          root(work / "root"),
          scratch(visible / "scriptlets") {
        unmount_stale(root);
        for (const fs::path& path : {upper, overlay, root, scratch}) {
            remove_tree(path);
        }
    }
};

/// Digest of everything that the results of scriptlets depend on, except for account numbers.
std::string packages_digest(const Context& ctx, const std::string& kernel_uname,
                            const std::string& parent,
                            const std::vector<ImportedPackage>& packages) {
    Sha256 digest;
    if (!parent.empty()) {
        digest.update_field("layer on " + parent);
    }
    digest.update_field(std::to_string(ctx.source_date_epoch));
    digest.update_field(kernel_uname);
    for (const ImportedPackage& package : packages) {
        digest.update_field(package.sha256);
    }
    return digest.hex();
}

/// Results of scriptlets besides files.
struct Made {
    /// the calls of useradd and groupadd
    std::vector<std::vector<std::string>> accounts;
    /// notes and warnings about scriptlets; those of `sync_tree` are issued again at each build
    std::vector<Remark> remarks;
};

/// Puts the package database into the tree in the format of the image's rpm. Before the scriptlets
/// rpm may not be able to run yet: the format is the builder's then.
void put_database(const Context& ctx, Tree& tree, const PackageDatabase& written,
                  const fs::path& scratch, bool final) {
    const std::optional<ImageRpm> rpm = ask_image_rpm(ctx, tree, final);
    install_rpmdb(ctx, tree, rpm ? convert_rpmdb(ctx, tree, *rpm, written, scratch) : written);
    if (rpm) {
        point_rpm_to_database(ctx, tree, *rpm);
    }
}

Made run_in_root(const Context& ctx, Tree& tree, const std::vector<ImportedPackage>& packages,
                 std::size_t first, const std::vector<NamedOwner>& owners,
                 const ParentAccounts& parent, const PackageDatabase& written,
                 const fs::path& scratch) {
    const Entries packaged = tree.entries;
    if (first == packages.size()) {
        return {};  // nothing is installed: the parent's database stays as it is, too
    }
    // Before the scriptlets, because some query it; and again after them, because a query may
    // change the files, and a scriptlet what rpm says.
    put_database(ctx, tree, written, scratch / "image-rpmdb", false);
    Made made;
    {
        const Recording recording(ctx.console);
        made.accounts = run_scriptlets(ctx, tree, packages, first, owners, parent, scratch / "run");
        made.remarks = recording.remarks();
    }
    sync_tree(ctx, tree);
    remove_leftovers(ctx, packaged, tree);
    put_database(ctx, tree, written, scratch / "image-rpmdb", true);
    sync_tree(ctx, tree);
    if (find_entry(tree, "/usr/bin/rpm") != nullptr) {
        check_rpmdb(ctx, tree, packages);
    }
    return made;
}

/// A tree with the parent's files at the paths that packages have; an empty one without a parent.
Tree tree_of_parent(const Context& ctx, ComposeBase& base) {
    Tree parent;
    if (!base.checksum.empty()) {
        parent.entries = std::move(base.entries);
        undo_layout(ctx, parent);
    }
    return parent;
}

/// Those of `all` that are not the parent's, which are compressed in its repository.
Entries without(const Entries& all, const Entries& parent) {
    Entries rest;
    for (const auto& [path, entry] : all) {
        if (!parent.contains(path)) {
            rest.emplace_hint(rest.end(), path, entry);
        }
    }
    return rest;
}

}  // namespace

ComposedTree compose(const Context& ctx, const std::string& kernel_uname, const PackageFiles& files,
                     const ParentAccounts& parent, std::optional<ComposeBase> given) {
    if (files.empty() && !given) {
        throw Error("there is no package to compose an image from");
    }
    ComposeBase base = given ? *std::move(given) : ComposeBase{};
    const Layers layers(fs::absolute(ctx.work()), fs::absolute(ctx.visible()));
    Tree of_parent = tree_of_parent(ctx, base);
    const Entries before = std::move(of_parent.entries);
    std::vector<ImportedPackage> packages = std::move(base.packages);
    const std::size_t first = packages.size();
    std::vector<ImportedPackage> added;
    if (!files.empty()) {
        added = order_packages(import_packages(ctx, files));
    }
    United united = unite(added, before);
    std::ranges::move(added, std::back_inserter(packages));
    PackageGraph graph(packages, united.entries);

    // Compression of packaged files does not depend on what follows, which is mostly serial.
    DeflateAhead deflating(ctx, without(united.entries, before));

    Tree tree;
    tree.entries = std::move(united.entries);
    tree.kernel = kernel_uname;
    tree.upper = layers.upper;
    tree.kernel_arguments = std::move(base.arguments);
    tree.mount_points = std::move(of_parent.mount_points);
    tree.parent_initramfs = std::move(of_parent.parent_initramfs);
    tree.initramfs_arguments = std::move(base.initramfs_arguments);
    const std::string digest = packages_digest(ctx, kernel_uname, base.checksum, packages);
    tree.inputs_digest = find_composition(ctx, digest, parent);
    for (const ImportedPackage& package : packages) {
        tree.packages.push_back(package.nevra);
    }
    std::optional<PackageDatabase> database;
    const auto write_database = [&](const Context& writing) {
        // No program of the image reads it there, and SQLite writes much of it several times: not
        // where `layers.scratch` is, in an overlay.
        const std::filesystem::path place = std::filesystem::absolute(writing.work()) / "rpmdb";
        remove_tree(place);
        make_directories(place);
        database = write_rpmdb(writing, packages, place, base.headers);
    };
    // Both take half a second or more, and neither needs the other.
    run_both(
        ctx,
        [&](const Context& checking) {
            check_out(checking, tree.entries, layers.lower, layers.index);
        },
        [&](const Context& writing) {
            if (tree.inputs_digest.empty()) {
                write_database(writing);
            }
        });

    bool known = !tree.inputs_digest.empty() && restore_composition(ctx, tree);
    std::optional<EntryLock> making;
    if (!known) {
        // Locks the packages alone: the account numbers are known only after the scriptlets.
        making.emplace(ctx, kept_compositions.lock, digest,
                       "is running the scriptlets of the same packages");
        tree.inputs_digest = find_composition(ctx, digest, parent);
        known = !tree.inputs_digest.empty() && restore_composition(ctx, tree);
    }
    if (!known) {
        make_upper(layers.upper, tree.entries.at("/").mode);
    }
    RootMount mount(layers.lower, layers.upper, layers.overlay, layers.root);
    tree.root = layers.root;
    if (!known) {
        if (!database) {
            write_database(ctx);
        }
        const Made made = run_in_root(ctx, tree, packages, first, united.owners, parent, *database,
                                      layers.scratch);
        tree.inputs_digest = name_composition(ctx, digest, parent, tree, made.accounts);
        store_composition(ctx, tree, made.remarks);
    }
    making.reset();
    for (const char* path : {"/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"}) {
        if (find_entry(tree, path) != nullptr) {
            tree.packaged_accounts.emplace(path, read_entry(tree, path));
        }
    }
    return {std::move(tree), std::move(graph), std::move(mount), std::move(deflating)};
}

}  // namespace edgegpu
