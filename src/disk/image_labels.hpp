#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "disk/ext4/ext4.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"
#include "selinux/labels/file_contexts.hpp"

namespace edgegpu {

/// The labels that an image's own policy gives to files that its commit does not have.
class ImageLabels {
public:
    /// Reads SELINUXTYPE of the commit's /usr/etc/selinux/config and the file contexts of that
    /// policy. An image without a policy has no labels. Throws Error for a policy that cannot be
    /// read.
    ImageLabels(const Context& ctx, const CommitView& commit);

    /// The name of the policy ("targeted"), or empty.
    [[nodiscard]] const std::string& policy() const noexcept { return policy_; }
    /// The label of an absolute path as the running system sees it ("/etc/fstab"); that of the
    /// nearest directory above for a path for which the policy has none. Empty without a policy.
    [[nodiscard]] std::string look_up(std::string_view path, EntryType type) const;
    /// Attributes of something that root owns, with the label of `path`.
    [[nodiscard]] NodeAttributes attributes(std::string_view path, EntryType type, unsigned mode,
                                            std::int64_t modified) const;

private:
    std::string policy_;
    std::optional<selinux::FileContexts> contexts_;
};

}  // namespace edgegpu
