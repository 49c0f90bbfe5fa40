#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "blueprint/image_settings.hpp"
#include "disk/disk.hpp"
#include "disk/file_tree.hpp"
#include "disk/image_labels.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Bytes of a page, the first of which is all of an empty swap area.
inline constexpr std::size_t swap_header = 4096;

/// Bytes at the beginning of a partition for a volume group that are zero on the disk, so that
/// nothing is found there which an earlier system has left.
inline constexpr std::size_t empty_group = 1U << 20U;

/// A line of /etc/fstab.
struct FstabLine {
    /// the second field; "none" of swap
    std::string point;
    /// with the newline
    std::string text;
};

/// Sets what the partitions of volumes have as content on a disk of `smallest_size`: file systems
/// with room for what the request injects. Throws Error if the image could not grow them.
void shrink_volumes(const DiskRequest& request, const CommitView& commit,
                    std::vector<Partition>& partitions);

/// The lines for volumes with these partitions. They name partitions, not file systems: another
/// installation keeps the latter, and gives the partitions new UUIDs.
[[nodiscard]] std::vector<FstabLine> volume_fstab(const std::vector<Volume>& volumes,
                                                  const std::vector<Partition>& partitions);

/// What the commit lacks for the volume, with what for: LVM, or a directory of its own part of the
/// tree on which the volume would be mounted; empty: nothing.
[[nodiscard]] std::string missing_for(const Volume& volume, const CommitView& commit);

/// Directories at the top of the commit that are no part of any system, and on which no volume is
/// mounted: whoever uses them finds them empty and read-only.
[[nodiscard]] std::vector<std::string> unused_mount_points(const std::vector<Volume>& volumes,
                                                           const CommitView& commit);

/// Throws Error if the commit lacks something for one of them, or if it or what is injected mounts
/// one, or the disk's / or /boot, as something else than ext4.
void check_volumes(const std::vector<Volume>& volumes, const CommitView& commit,
                   const Injection& injection = {});

/// Moves out of `var` what belongs to the file systems of the volumes, one tree each in their
/// order, with the directories on which others are mounted; those stay in `var` as well, empty.
/// `time` is that of new directories.
[[nodiscard]] std::vector<FileTree> take_volume_trees(const std::vector<Volume>& volumes,
                                                      const ImageLabels& labels, std::int64_t time,
                                                      FileTree& var);

/// Writes a swap area with mkswap into its partition of `disk`, which is all zero there. Throws
/// Error.
void write_swap(const Context& ctx, const std::filesystem::path& disk, const Partition& partition,
                const std::string& label);

}  // namespace edgegpu
