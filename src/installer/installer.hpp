#pragma once

#include <filesystem>
#include <string>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "installer/target_rule.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What an installation medium is to do.
struct InstallerRequest {
    /// the disk that it writes; its size is the smallest, as it grows when it is first started
    DiskRequest disk;
    /// which disk of a machine it may overwrite
    TargetRule target;
    /// The medium installs a commit whose signature cannot be verified.
    bool unsigned_commit = false;
};

/// An installation medium that has been written.
struct Installer {
    /// the disk that it writes
    Disk disk;
    /// of the ISO 9660 file system, by which the installer finds its medium: "EDGEGPU_" and 16
    /// hexadecimal digits
    std::string label;
};

/// Writes an ISO image to the new file `path` that starts from CD or USB stick, through UEFI and
/// BIOS as far as the image has boot loaders for them: kernel and initramfs of the commit, the
/// program `install` as their first process, and the disk image that it writes. Temporary files of
/// the size of the disk are made in the directory of `path`, and removed. The same commit and
/// request give the same bytes. Throws Error, for example for a commit without a signature, unless
/// it may be unsigned, and if xorriso is missing.
[[nodiscard]] Installer write_installer(const Context& ctx, const RepositoryView& repository,
                                        const CommitView& commit, const InstallerRequest& request,
                                        const std::filesystem::path& path);

}  // namespace edgegpu
