#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compose/tree.hpp"
#include "selinux/selinux.hpp"
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

/// A writable copy of the tree's /etc/selinux and its module store, to be bound over them in the
/// sandbox. Deleted when it goes.
class StoreCopy {
public:
    /// Copies from `tree.entries` to a new directory below ctx.cache/work.
    StoreCopy(const Context& ctx, const Tree& tree, const PolicyPaths& paths);
    StoreCopy(const StoreCopy&) = delete;
    StoreCopy& operator=(const StoreCopy&) = delete;
    ~StoreCopy();

    /// Scratch space of this transaction.
    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// The place of an image path below /etc/selinux or the store root in the copy.
    [[nodiscard]] std::filesystem::path place(const std::string& image_path) const;
    /// (builder path, path in the image) pairs for SandboxCommand::writable_binds.
    [[nodiscard]] std::vector<std::pair<std::filesystem::path, std::string>> binds() const;
    /// The newest "policy.NN" of the copy. Throws Error if there is none.
    [[nodiscard]] std::filesystem::path binary_policy() const;

    /// Reads everything back as entries. The store moves to /etc/selinux (and semanage.conf says
    /// so): /var belongs to the device, and a store there would not follow updates of the policy.
    /// Locks are left out.
    [[nodiscard]] PolicyResult collect(const Context& ctx, const Tree& tree) const;

private:
    PolicyPaths paths_;
    std::filesystem::path directory_;
};

}  // namespace edgegpu::selinux
