#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "execution/context.hpp"
#include "image/image_root.hpp"
#include "image/tree.hpp"
#include "selinux/policy/policydb.hpp"
#include "selinux/store/policy_result.hpp"

namespace edgegpu::selinux {

/// The paths of an image's SELinux policy, in the image.
struct PolicyPaths {
    /// SELINUXTYPE of /etc/selinux/config, e.g. "targeted"
    std::string type;
    /// "/etc/selinux/targeted"
    std::string policy;
    /// store-root of semanage.conf(5), "/var/lib/selinux" by default
    std::string store_root;
    /// "/var/lib/selinux/targeted"
    std::string store;
};

/// Reads /etc/selinux/config (or /usr/etc/selinux/config after `finish_layout`) and semanage.conf
/// of the tree; nothing if the image has no SELinux. Throws Error for a type that is not a plain
/// name, or a store-root that is not a plain path.
[[nodiscard]] std::optional<PolicyPaths> find_policy(const Tree& tree);

/// The text of semanage.conf(5) with `key` set to `value` in a line of its own, the last.
[[nodiscard]] std::string with_setting(const std::string& conf, std::string_view key,
                                       std::string_view value);

/// (priority, name) of a policy module in the store.
using ModuleId = std::pair<int, std::string>;

/// The modules in the tree's store, at all priorities.
[[nodiscard]] std::set<ModuleId> stored_modules(const Tree& tree, const PolicyPaths& paths);

/// A temporary directory in the build's slot of work/, removed on destruction.
class StoreDirectory {
public:
    explicit StoreDirectory(const Context& ctx);
    StoreDirectory(const StoreDirectory&) = delete;
    StoreDirectory& operator=(const StoreDirectory&) = delete;
    ~StoreDirectory();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A writable copy of the tree's /etc/selinux and its module store, to be bind-mounted over them in
/// the sandbox. Programs of the image change it, so it is accessed through ImageRoot only. Removed
/// on destruction.
class StoreCopy {
public:
    /// Copies from `tree.entries` to a new directory below ctx.work(); `ctx` outlives this. Throws
    /// Error if /etc/selinux or the store's directory is a link or file.
    StoreCopy(const Context& ctx, const Tree& tree, const PolicyPaths& paths);

    /// Directory for temporary files of the builder.
    [[nodiscard]] const std::filesystem::path& directory() const noexcept {
        return scratch_.path();
    }
    /// The copy, with the image's paths; it has only /etc/selinux and the store root.
    [[nodiscard]] const ImageRoot& root() const noexcept { return root_; }
    /// (builder path, path in the image) pairs for SandboxCommand::writable_binds.
    [[nodiscard]] std::vector<std::pair<std::filesystem::path, std::string>> binds() const;
    /// The newest "policy.NN" of the copy. Throws Error if there is none.
    [[nodiscard]] PolicyDb binary_policy() const;

    /// Reads the copy back as entries, without locks. The store moves to /etc/selinux, with
    /// store-root in semanage.conf, since a store in /var would not be updated with the policy.
    /// Throws Error for special files, and for more than 1 GiB.
    [[nodiscard]] PolicyResult collect(const Context& ctx, const Tree& tree) const;

private:
    const Context& ctx_;
    PolicyPaths paths_;
    StoreDirectory scratch_;
    ImageRoot root_;
};

}  // namespace edgegpu::selinux
