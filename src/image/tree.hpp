#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "image/entries.hpp"
#include "support/context.hpp"
#include "support/nevra.hpp"

namespace edgegpu {

/// Where files lie that a recorded policy call needs and its scriptlet removed: in the tree from
/// the scriptlets to the replay, and not in the image.
inline constexpr std::string_view replay_directory = "/usr/lib/edgegpu-replay";

/// A composed image before it is committed.
struct Tree {
    Entries entries;
    /// The same tree as a directory that programs of the image can run in: an overlay whose
    /// lower layer is hard links into the cache. Valid while the build runs. `sync_tree` carries
    /// changes made there into `entries`; `put_file` and friends change both.
    std::filesystem::path root;
    /// upper layer of that overlay: holds only what changed since the packages were unpacked
    std::filesystem::path upper;
    /// passwd, group, shadow and gshadow of /etc by their paths, as packages and scriptlets left
    /// them: without what the blueprint adds
    std::map<std::string, std::string, std::less<>> packaged_accounts;
    /// packages in installation order
    std::vector<Nevra> packages;
    /// "uname -r" of the kernel
    std::string kernel;
    /// Digest of everything that decided `entries` so far; stages extend it.
    std::string inputs_digest;
    /// For the boot loader's entry, in order: what scriptlets asked grubby for, then the
    /// blueprint's.
    std::vector<std::string> kernel_arguments;
    /// Recorded calls that change the SELinux policy store, in order: each an argv
    /// ("semodule", "-i", "/usr/share/selinux/packages/container.pp.bz2", …), replayed once
    /// by the selinux stage.
    std::vector<std::vector<std::string>> policy_calls;
};

/// Stores `content` under `content/` of the cache and returns a file entry for it
/// (root:root, `mode`). Deterministic; safe from several threads.
[[nodiscard]] Entry make_file_entry(const Context& ctx, std::string_view content, unsigned mode);
/// The same for a file on disk; its content is copied unless the cache has it. The digest is that
/// of the stored copy. Throws Error where somebody writes to the file meanwhile.
[[nodiscard]] Entry make_file_entry_from(const Context& ctx, const std::filesystem::path& source,
                                         unsigned mode);
/// The same for an open regular file, whose position does not matter; messages call it `name`.
[[nodiscard]] Entry make_file_entry_from(const Context& ctx, int source, const std::string& name,
                                         unsigned mode);

/// Puts an entry at `path` (creating missing parents as root:root 0755), in `tree.entries` and, so
/// that programs of the image see it, below `tree.root` while that exists. `path` is absolute
/// and normal ("/etc/x"); symlinked parents (/bin → usr/bin) are followed inside the tree.
void put_entry(Tree& tree, std::string_view path, const Entry& entry);
/// Removes a path and all below it, in both places. No error if absent.
void remove_entry(Tree& tree, std::string_view path);
/// The entry at `path` after following symlinks inside the tree, or nullptr.
[[nodiscard]] const Entry* find_entry(const Tree& tree, std::string_view path);
/// Content of a regular file of the tree (symlinks followed). Throws Error if absent.
[[nodiscard]] std::string read_entry(const Tree& tree, std::string_view path);
/// `path` with every symlink of the tree on the way followed (the last component too if
/// `follow_last`); the rest as it is where a component does not exist. Throws on a loop.
[[nodiscard]] std::string resolve_in_tree(const Tree& tree, std::string_view path,
                                          bool follow_last = true);

/// Carries what programs changed in the overlay's upper layer into `entries` (new and changed
/// files hashed and stored, whiteouts and opaque directories honoured), then counts them as
/// known. Sockets, devices and fifos are reported and left out.
void sync_tree(const Context& ctx, Tree& tree);

}  // namespace edgegpu
