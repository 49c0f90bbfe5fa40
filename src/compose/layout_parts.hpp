#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// What the layouts of all images have in common (layout.hpp, snapshot_layout.hpp). Of the tree,
/// `tree.entries` alone is changed.

/// The entry at exactly this path, without following links, or nullptr.
[[nodiscard]] const Entry* entry_itself(const Tree& tree, std::string_view path);
[[nodiscard]] bool is_of_type(const Tree& tree, std::string_view path, EntryType type);
/// "link to TARGET", "directory" or "file".
[[nodiscard]] std::string kind_of(const Entry& entry);

/// Moves the directory `from` with its content to `to`. Throws if both have a file that differs.
void move_directory(Tree& tree, const std::string& from, const std::string& to);

/// Throws for a top-level path that no rule translates, instead of dropping it, and for an image
/// that is not usr-merged.
void check_top_level(const Tree& tree);

/// Devices generate their machine id at the first boot if the file is empty or says "uninitialized"
/// (machine-id(5)); one in the image would be that of all of them. Warns if there is one.
void empty_machine_id(const Context& ctx, Tree& tree);

/// Directories that are mounts on every device, with their modes.
inline constexpr std::array<std::pair<std::string_view, unsigned>, 6> mount_points_of_all{
    {{"/dev", 0755},
     {"/proc", 0555},
     {"/run", 0755},
     {"/sys", 0555},
     {"/tmp", 01777},
     {"/var", 0755}}};

/// Removes kernels and initramfs images from /boot.
void remove_boot_copies(Tree& tree);

}  // namespace edgegpu
