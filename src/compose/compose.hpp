#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compose/tree.hpp"
#include "fetch/fetch.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// passwd and group of the parent commit, for stable numbers; empty without a parent.
struct ParentAccounts {
    std::string passwd;
    std::string group;
};

/// A mounted overlay, unmounted when it goes. Movable.
class RootMount {
public:
    /// Mounts lower+upper at `root` (all directories are made).
    RootMount(const std::filesystem::path& lower, const std::filesystem::path& upper,
              const std::filesystem::path& work, const std::filesystem::path& root);
    RootMount(RootMount&& other) noexcept;
    RootMount& operator=(RootMount&& other) noexcept;
    ~RootMount();

private:
    std::filesystem::path root_;
};

/// A tree together with the mount its `root` lives in.
struct ComposedTree {
    Tree tree;
    RootMount mount;
};

/// Unpacks every package (each once, cached by its digest, in parallel), unites the trees,
/// writes the rpmdb, runs scriptlets and triggers in the sandbox in dependency order.
/// The result is cached by the digest of packages and of the numbers of their accounts
/// (composition_key.hpp): with the same inputs no scriptlet runs again. Throws Error naming package, scriptlet, exit status and output.
[[nodiscard]] ComposedTree compose(const Context& ctx, const Blueprint& blueprint,
                                   const Resolution& resolution, const PackageFiles& packages,
                                   const ParentAccounts& parent);

}  // namespace edgegpu
