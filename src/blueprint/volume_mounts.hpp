#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/image_settings.hpp"

namespace edgegpu {

/// A file of an image that says how devices mount file systems.
struct MountFile {
    /// where messages say that it is: a file, or the place in the blueprint that has the text
    std::string place;
    /// whether `place` is a file, which has the lines of `text`
    bool is_file = false;
    std::string text;
};

/// Files of an image, by their path on devices.
using MountFiles = std::map<std::string, MountFile, std::less<>>;

/// Whether systemd reads mounts, or settings of them, from this path: fstab, and units of mounts
/// and automounts with their drop-ins.
[[nodiscard]] bool is_mount_file(std::string_view path);

/// The mount unit of a mount point: "/var/my-data" → "var-my\x2ddata.mount".
[[nodiscard]] std::string mount_unit_of(std::string_view point);

/// Why the file systems of disks, which are ext4, cannot be mounted so, to follow a mount point
/// ("as xfs", "with \"pquota\""); nothing: they can.
[[nodiscard]] std::optional<std::string> ext4_refusal(std::string_view type,
                                                      std::string_view options);

[[nodiscard]] std::vector<std::string> mount_points_of(const std::vector<Volume>& volumes);

/// Which of the files mount a file system of the disk at one of these points as something else than
/// ext4, or with options that ext4 refuses, one sentence each. Devices stop at such a mount in
/// emergency mode, as local file systems are needed for everything after them; or, if fstab's line
/// does not require it ("nofail"), start without it. That is no less of a mistake, and harder to
/// notice: what belongs there is written to the file system below, or fails much later.
[[nodiscard]] std::vector<std::string> refused_mounts(const std::vector<std::string>& points,
                                                      const MountFiles& files);

/// What to do about `refused_mounts`.
inline constexpr std::string_view refused_mounts_hint =
    "remove the type or the options, or the volume from the blueprint if another disk is meant";

/// A unit whose mount point devices cannot have, and what to do about it.
struct MisplacedMount {
    std::string problem;
    std::string hint;
};

/// Units of mounts and automounts whose `Where=` goes through a link of a commit, which systemd
/// refuses, or lies below a directory in / that is neither of a commit nor in `directories`, and
/// cannot be made there. Where that is not known (`[parent]`), only the links count.
[[nodiscard]] std::vector<MisplacedMount> misplaced_mounts(
    const std::optional<std::vector<std::string>>& directories, const MountFiles& files);

}  // namespace edgegpu
