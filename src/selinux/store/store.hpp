#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "image/image_root.hpp"
#include "image/tree.hpp"
#include "selinux/policy/policydb.hpp"
#include "selinux/store/policy_result.hpp"
#include "support/context.hpp"

namespace edgegpu::selinux {

/// Where an image keeps its SELinux policy. All paths are of the image.
struct PolicyPaths {
    /// SELINUXTYPE of /etc/selinux/config, e.g. "targeted"
    std::string type;
    /// "/etc/selinux/targeted"
    std::string policy;
    /// store-root of semanage.conf(5): "/var/lib/selinux" unless it says otherwise
    std::string store_root;
    /// "/var/lib/selinux/targeted"
    std::string store;
};

/// Reads /etc/selinux/config (or /usr/etc/selinux/config after `finish_layout`) of the tree;
/// nothing where the image has no SELinux. Throws Error for a type that is not a plain name.
[[nodiscard]] std::optional<PolicyPaths> find_policy(const Tree& tree);

/// (priority, name) of a policy module in the store.
using ModuleId = std::pair<int, std::string>;

/// The modules in the tree's store.
[[nodiscard]] std::set<ModuleId> stored_modules(const Tree& tree, const PolicyPaths& paths);

/// A directory below work/ of the cache, gone when the value goes.
class ScratchDirectory {
public:
    explicit ScratchDirectory(const Context& ctx);
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    ~ScratchDirectory();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A writable copy of the tree's /etc/selinux and its module store, to be bound over them in the
/// sandbox. Programs of the image change it, so that it is read and written as an image's
/// directory alone. Deleted when it goes.
class StoreCopy {
public:
    /// Copies from `tree.entries` to a new directory below ctx.work(). Throws Error where
    /// /etc/selinux or the store's directory is a link or file.
    StoreCopy(const Context& ctx, const Tree& tree, const PolicyPaths& paths);

    /// Scratch space of this transaction, the builder's own.
    [[nodiscard]] const std::filesystem::path& directory() const noexcept {
        return scratch_.path();
    }
    /// The copy, by the image's paths. It has what is below /etc/selinux and the store root, and
    /// nothing else.
    [[nodiscard]] const ImageRoot& root() const noexcept { return root_; }
    /// (builder path, path in the image) pairs for SandboxCommand::writable_binds.
    [[nodiscard]] std::vector<std::pair<std::filesystem::path, std::string>> binds() const;
    /// The newest "policy.NN" of the copy. Throws Error if there is none.
    [[nodiscard]] PolicyDb binary_policy() const;

    /// Reads everything back as entries. The store moves to /etc/selinux (and semanage.conf says
    /// so): /var belongs to the device, and a store there would not follow updates of the policy.
    /// Locks are left out. Throws Error for special files, and for more than any policy has.
    [[nodiscard]] PolicyResult collect(const Context& ctx, const Tree& tree) const;

private:
    PolicyPaths paths_;
    ScratchDirectory scratch_;
    ImageRoot root_;
};

}  // namespace edgegpu::selinux
