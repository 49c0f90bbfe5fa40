#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "image/account_files.hpp"
#include "image/image_root.hpp"
#include "image/tree.hpp"
#include "rootfs/shim_mounts.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Programs that stand over the image's own while scriptlets run. Those that would talk to a
/// running system do nothing; those that change the SELinux policy store are recorded, to be
/// replayed once; grubby is recorded, as what it would change is the boot loader of each device;
/// ldconfig is recorded, to be run once; kernel-install, dracut and depmod do
/// nothing, because the build does their work itself; useradd and groupadd (and, by a file of
/// sysusers.d, systemd-sysusers) give accounts the numbers of `parent`, and new system accounts
/// none of those.
class Shims {
public:
    /// Writes the shims to `directory` (made) for those programs that `tree` has.
    Shims(const Tree& tree, const ParentAccounts& parent, const std::filesystem::path& directory);

    using Binds = std::vector<std::pair<std::filesystem::path, std::string>>;
    /// What a sandbox gets besides the image's root.
    [[nodiscard]] const Binds& read_only_binds() const { return read_only_; }
    /// Where the shims record.
    [[nodiscard]] const Binds& writable_binds() const { return writable_; }

    /// Puts shims over the image's programs, whose originals are at /run/edgegpu/real/NAME then. To
    /// be called before every program that runs.
    void cover(const ImageRoot& root) { mounts_->cover(root); }
    /// From then on paths of the image lead to its own programs.
    void uncover() noexcept { mounts_->uncover(); }

    /// What is wrong with the record, to which every program of the image can write: something
    /// else than what the shims leave there, or too much of it. Empty where nothing is. To be asked
    /// after every program.
    [[nodiscard]] std::string record_fault() const;
    /// The recorded calls of grubby.
    [[nodiscard]] std::vector<std::vector<std::string>> grubby_calls() const;
    /// The accounts that useradd and groupadd were called for: {"useradd", NAME} each.
    [[nodiscard]] std::vector<std::vector<std::string>> made_accounts() const;
    /// Whether ldconfig was called.
    [[nodiscard]] bool ldconfig_called() const;
    /// Counts a call of ldconfig that was answered without a sandbox.
    void note_ldconfig() { ldconfig_noted_ = true; }
    /// The recorded policy calls; files that scriptlets made only for the call are put into
    /// the tree, below `replay_directory`.
    [[nodiscard]] std::vector<std::vector<std::string>> take_policy_calls(const Context& ctx,
                                                                          Tree& tree) const;

private:
    std::filesystem::path record_;
    Binds read_only_;
    Binds writable_;
    std::unique_ptr<ShimMounts> mounts_;
    bool ldconfig_noted_ = false;
};

/// Reads calls as the shims record them: for each the number of words, then the words, every one
/// ended by a NUL. Throws Error where the text is damaged.
[[nodiscard]] std::vector<std::vector<std::string>> parse_calls(const std::string& text);
/// The inverse of parse_calls.
[[nodiscard]] std::string format_calls(const std::vector<std::vector<std::string>>& calls);

}  // namespace edgegpu
