#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fetch/fetch.hpp"
#include "image/account_files.hpp"
#include "image/deflate_ahead.hpp"
#include "image/overlay.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// A tree together with the mount its `root` lives in, and the compression of what its packages
/// ship, which goes on beside the stages up to the commit.
struct ComposedTree {
    Tree tree;
    RootMount mount;
    DeflateAhead deflating;
};

/// Unpacks every package (each once, cached by its digest, in parallel), unites the trees,
/// writes the rpmdb, runs scriptlets and triggers in the sandbox in dependency order. Programs see
/// `kernel_uname` as the kernel that runs.
/// The result is cached by the digest of packages and of the numbers of their accounts
/// (composition_key.hpp): with the same inputs no scriptlet runs again. Throws Error naming
/// package, scriptlet, exit status and output.
[[nodiscard]] ComposedTree compose(const Context& ctx, const std::string& kernel_uname,
                                   const PackageFiles& packages, const ParentAccounts& parent);

}  // namespace edgegpu
