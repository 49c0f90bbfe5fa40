#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "blueprint/containers.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// `[parent]`: the image is a layer on a commit that exists, whose packages stay as they are.
struct ParentRequest {
    /// ostree repository with the commit, absolute; empty with `image`
    std::filesystem::path repository;
    /// ref or checksum; empty with `image`
    std::string ref;
    /// container image with the commit, in a registry by its digest
    std::optional<ContainerRequest> image;
    SourceLocation location;
};

/// The least sizes of a disk image, in bytes; 0: nothing is asked for. From
/// `[[customizations.filesystem]]` or `[customizations.disk]`.
struct DiskSizes {
    /// of the whole disk
    std::uint64_t disk = 0;
    /// of the partitions of /, /boot and /boot/efi
    std::uint64_t rootfs = 0;
    std::uint64_t boot = 0;
    std::uint64_t esp = 0;
    bool operator==(const DiskSizes&) const = default;
};

/// A directory of a data file system, and where devices have it.
struct VolumeMount {
    /// absolute, with the links of a deployment resolved: "/var/home"
    std::string point;
    /// its name in the file system, of which it is a part ("subvolume"); empty: all of it
    std::string directory;
    bool operator==(const VolumeMount&) const = default;
};

/// What the partition of a volume has.
enum class VolumeUse {
    /// ext4
    file_system,
    swap,
    /// a volume group of LVM, which devices make at their first boot
    group
};

/// A partition of a disk image that holds data of the device. Upgrades do not touch it, and another
/// installation keeps its content.
struct Volume {
    /// bytes
    std::uint64_t size = 0;
    /// of the file system or swap; empty: none
    std::string label;
    /// of the file system; empty: swap or a volume group
    std::vector<VolumeMount> mounts;
    /// the name of the volume group; empty: none
    std::string group;
    bool operator==(const Volume&) const = default;

    [[nodiscard]] VolumeUse use() const {
        if (!group.empty()) {
            return VolumeUse::group;
        }
        return mounts.empty() ? VolumeUse::swap : VolumeUse::file_system;
    }
    /// For messages: "/var/home", "swap", or "volume group vg00".
    [[nodiscard]] std::string name() const {
        if (!group.empty()) {
            return "volume group " + group;
        }
        return mounts.empty() ? "swap" : mounts.front().point;
    }
};

/// `[image]`, except for `package_set`: what `edgegpu image` makes of a commit. Nothing of this is
/// part of the commit.
struct ImageSettings {
    /// bytes of the disk; 0: as large as needed
    std::uint64_t size = 0;
    /// empty: the image's own
    std::string stateroot;
    std::string remote;
    /// of the boot entry, after those of the commit
    std::vector<std::string> kernel_arguments;
    /// of installation media, as text; its syntax is not checked here
    std::string target_rule;
    SourceLocation target_rule_location;
    /// "zstd" or "none"
    std::string compress = "none";
    /// TOML file with what belongs to one machine, absolute; empty: none
    std::filesystem::path injection;
    /// whether images are signed with the key of `[ostree]`
    bool sign = false;
    SourceLocation sign_location;
    DiskSizes least;
    /// in the order of the blueprint
    std::vector<Volume> volumes;
};

}  // namespace edgegpu
