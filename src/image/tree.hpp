#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "execution/context.hpp"
#include "image/entries.hpp"
#include "support/text/nevra.hpp"
#include "support/update_system.hpp"

namespace edgegpu {

/// Directory of files that a recorded policy call needs and its scriptlet may have removed. It is
/// in the tree from the scriptlets to the replay, and not in the image.
inline constexpr std::string_view replay_directory = "/usr/lib/edgegpu-replay";

/// A composed image before it is committed.
struct Tree {
    Entries entries;
    /// The same tree as a directory in which programs of the image run: an overlay whose lower
    /// layer consists of hard links into the cache. Empty after `finish_layout`. `sync_tree` copies
    /// changes of programs to `entries`; `put_entry` and `remove_entry` change both.
    std::filesystem::path root;
    /// upper layer of that overlay: what changed since the packages were unpacked
    std::filesystem::path upper;
    /// path → text of passwd, group, shadow and gshadow in /etc, as packages and scriptlets left
    /// them, without accounts of the blueprint
    std::map<std::string, std::string, std::less<>> packaged_accounts;
    /// packages in installation order, those of the parent first
    std::vector<Nevra> packages;
    /// "uname -r" of the kernel
    std::string kernel;
    UpdateSystem update_system = UpdateSystem::ostree;
    /// Of an image that is a layer, directories of "/" that its parent has for file systems.
    std::vector<std::string> mount_points;
    /// Of an image that is a layer, the initramfs of its parent.
    std::optional<Entry> parent_initramfs;
    /// Arguments of dracut that a device needs for an initramfs of its own
    /// (`rpmostree.initramfs-args`): the parent's, until there is an initramfs.
    std::vector<std::string> initramfs_arguments;
    /// Name of the composition in the cache (compose/composition_key.hpp).
    std::string inputs_digest;
    /// Kernel arguments in order: those that scriptlets set with grubby, then the blueprint's.
    std::vector<std::string> kernel_arguments;
    /// Recorded calls that change the SELinux policy store, in order, each an argv ("semodule",
    /// "-i", "/usr/share/selinux/packages/container.pp.bz2", …); the selinux stage replays them.
    std::vector<std::vector<std::string>> policy_calls;
};

/// Stores `content` in `content/` of the cache and returns a file entry for it (root:root, `mode`).
/// Thread-safe.
[[nodiscard]] Entry make_file_entry(const Context& ctx, std::string_view content, unsigned mode);
/// The same for a file on disk, which is copied unless the cache has its content. The digest is
/// that of the copy. Throws Error if the file is modified meanwhile.
[[nodiscard]] Entry make_file_entry_from(const Context& ctx, const std::filesystem::path& source,
                                         unsigned mode);
/// The same for an open regular file, whose position does not matter; messages call it `name`.
[[nodiscard]] Entry make_file_entry_from(const Context& ctx, int source, const std::string& name,
                                         unsigned mode);

/// Adds or replaces the entry at `path`, in `tree.entries` and, so that programs of the image see
/// it, below `tree.root` if that exists. Missing parents are created as root:root 0755. `path` must
/// be absolute and normal ("/etc/x"); links of parents (/bin → usr/bin) are followed in the tree.
void put_entry(Tree& tree, std::string_view path, const Entry& entry);
/// Removes a path and everything below it, in both places. No error if it does not exist.
void remove_entry(Tree& tree, std::string_view path);
/// The entry at `path` after following symlinks inside the tree, or nullptr.
[[nodiscard]] const Entry* find_entry(const Tree& tree, std::string_view path);
/// Content of a regular file of the tree (symlinks followed). Throws Error if there is none.
[[nodiscard]] std::string read_entry(const Tree& tree, std::string_view path);
/// `path` with all symlinks of the tree resolved (the last component only if `follow_last`);
/// components that do not exist are kept. Throws Error for a loop.
[[nodiscard]] std::string resolve_in_tree(const Tree& tree, std::string_view path,
                                          bool follow_last = true);

/// Copies changes in the overlay's upper layer to `entries`: new and changed files are hashed and
/// stored in the cache, whiteouts and opaque directories are applied. Devices, fifos and sockets
/// are left out with a warning.
void sync_tree(const Context& ctx, Tree& tree);

}  // namespace edgegpu
