#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "execution/context.hpp"
#include "image/account_files.hpp"
#include "image/image_root.hpp"
#include "image/tree.hpp"
#include "rootfs/shim_mounts.hpp"

namespace edgegpu {

/// Replacements for programs of the image while scriptlets run (rootfs/shim). Programs that would
/// talk to a running system do nothing; those that change the SELinux policy store are recorded, to
/// be replayed once; grubby, and what SUSE's pbl does to kernel arguments, are recorded, since the
/// boot loader belongs to the device; ldconfig is recorded, to be run once; kernel-install, dracut,
/// mkinitrd and depmod do nothing, because the build does their work; useradd and groupadd (and,
/// through a file of sysusers.d(5), systemd-sysusers) give accounts the numbers of `parent`, and
/// none of these to other system accounts.
class Shims {
public:
    /// Writes the shim and its files to `directory`, and prepares mounts for the programs that
    /// `tree` has.
    Shims(const Tree& tree, const ParentAccounts& parent, const std::filesystem::path& directory);

    using Binds = std::vector<std::pair<std::filesystem::path, std::string>>;
    /// Bind mounts for the sandbox besides the image's root.
    [[nodiscard]] const Binds& read_only_binds() const { return read_only_; }
    /// The bind mount of the directory in which the shims record calls.
    [[nodiscard]] const Binds& writable_binds() const { return writable_; }

    /// Mounts the shim over the image's programs, which are then at /run/edgegpu/real/NAME. To be
    /// called before each program that runs.
    void cover(const ImageRoot& root) { mounts_->cover(root); }
    /// Unmounts it again.
    void uncover() noexcept { mounts_->uncover(); }

    /// What is wrong with the record, to which every program of the image can write: objects that
    /// no shim creates, or too much data. Empty if nothing is wrong. To be called after each
    /// program.
    [[nodiscard]] std::string record_fault() const;
    /// The recorded calls of grubby.
    [[nodiscard]] std::vector<std::vector<std::string>> grubby_calls() const;
    /// The accounts that useradd and groupadd were called for: {"useradd", NAME} each.
    [[nodiscard]] std::vector<std::vector<std::string>> made_accounts() const;
    /// Whether ldconfig was called.
    [[nodiscard]] bool ldconfig_called() const;
    /// Notes a call of ldconfig for which no sandbox was started.
    void note_ldconfig() { ldconfig_noted_ = true; }
    /// The recorded policy calls; adds files that scriptlets created only for such a call to the
    /// tree, below `replay_directory`.
    [[nodiscard]] std::vector<std::vector<std::string>> take_policy_calls(const Context& ctx,
                                                                          Tree& tree) const;

private:
    std::filesystem::path record_;
    Binds read_only_;
    Binds writable_;
    std::unique_ptr<ShimMounts> mounts_;
    bool ldconfig_noted_ = false;
};

/// Reads calls in the format in which the shims record them: for each call the number of words
/// (decimal) and the words, all terminated by a NUL. Throws Error if the text is damaged.
[[nodiscard]] std::vector<std::vector<std::string>> parse_calls(const std::string& text);
/// The inverse of parse_calls.
[[nodiscard]] std::string format_calls(const std::vector<std::vector<std::string>>& calls);

}  // namespace edgegpu
