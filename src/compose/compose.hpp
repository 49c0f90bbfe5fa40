#pragma once

#include <optional>
#include <string>
#include <vector>

#include "execution/context.hpp"
#include "fetch/fetch.hpp"
#include "image/account_files.hpp"
#include "image/deflate_ahead.hpp"
#include "image/overlay.hpp"
#include "image/tree.hpp"
#include "rootfs/import.hpp"
#include "rootfs/package_graph.hpp"

namespace edgegpu {

/// The parent that an image is a layer on.
struct ComposeBase {
    /// checksum of its commit
    std::string checksum;
    /// its files, at the paths of the commit
    Entries entries;
    /// in the order of their installation, without the content of their files
    std::vector<ImportedPackage> packages;
    /// of everything in its package database
    std::vector<std::string> headers;
    /// kernel arguments
    std::vector<std::string> arguments;
    /// arguments of dracut
    std::vector<std::string> initramfs_arguments;
};

/// A tree with the packages that it was made of, the mount of its `root`, and the compression of
/// packaged files, which runs beside the stages up to the commit.
struct ComposedTree {
    Tree tree;
    PackageGraph packages;
    RootMount mount;
    DeflateAhead deflating;
};

/// Unpacks the packages (in parallel, cached by digest), unites their files, writes the rpmdb, and
/// runs scriptlets and triggers in the sandbox in dependency order. Programs see `kernel_uname` as
/// the running kernel. Accounts get the numbers of `parent` (seed_accounts).
/// Results of scriptlets are cached by packages and account numbers (composition_key.hpp). Throws
/// Error naming package, scriptlet, exit status and output.
///
/// With `base`, the packages are added to the parent, whose files, accounts and package database
/// are those of the tree before; there may be no package to add.
[[nodiscard]] ComposedTree compose(const Context& ctx, const std::string& kernel_uname,
                                   const PackageFiles& packages, const ParentAccounts& parent,
                                   std::optional<ComposeBase> base = std::nullopt);

}  // namespace edgegpu
