#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "disk/ext4/ext4.hpp"
#include "disk/image_labels.hpp"
#include "disk/volumes.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What a deployment of a commit will be, known before anything is written.
struct DeploymentPlan {
    /// checksum of the commit
    std::string commit;
    /// "uname -r": the directory below /usr/lib/modules that has the kernel
    std::string kernel;
    bool initramfs = false;
    /// ostree's checksum of kernel, initramfs and device trees, part of their directory's name in
    /// /boot
    std::string boot_checksum;
    /// ID of the image's os-release ("rhel"); "linux" without one
    std::string os_id;
    /// PRETTY_NAME (else NAME, else ID)
    std::string os_name;
    /// "edge-gpu 12 (ostree:0)": the title of the boot entry
    std::string title;
    std::string stateroot;
    /// "REMOTE:REF" or "REF", the origin that the device upgrades from; empty: none
    std::string refspec;
    /// the commit's, then the request's; without root= and ostree=
    std::vector<std::string> kernel_arguments;
    /// Unix time of everything that has no time of its own: that of the commit
    std::int64_t time = 0;
    /// The least bytes of the file systems, with their metadata, rounded up to MiB: of the root
    /// file system with this deployment and nothing to spare; of /boot with this kernel.
    std::uint64_t root_bytes = 0;
    std::uint64_t boot_bytes = 0;
    /// What one more deployment like it needs in /boot: kernel, initramfs, boot entry.
    std::uint64_t boot_deployment_bytes = 0;
};

/// The file systems that a deployment's boot entry and /etc/fstab refer to.
struct DeploymentTarget {
    /// UUIDs of the root file system and of /boot
    std::string root_uuid;
    std::string boot_uuid;
    /// "XXXX-XXXX" of the EFI system partition, mounted at /boot/efi; empty: none
    std::string esp_uuid;
    /// ostree's `sysroot.bootloader`: who keeps the boot loader's menu. "none": the boot loader
    /// reads the boot entries itself; "grub2": ostree calls grub2-mkconfig or its own generator
    std::string bootloader = "none";
    /// Kernel arguments by which the initramfs unlocks the root file system (`luks_arguments`);
    /// empty: it is not encrypted.
    std::vector<std::string> unlock;
    /// for the volumes of the request
    std::vector<FstabLine> volumes;
};

/// The empty file systems of a disk.
struct DeploymentFileSystems {
    /// the root file system
    Ext4Writer& sysroot;
    Ext4Writer& boot;
    /// of the request's volumes, in their order; null for swap
    std::vector<std::unique_ptr<Ext4Writer>> volumes;
};

/// The boot entry of a deployment that was written.
struct WrittenDeployment {
    /// paths in the file system of /boot ("/ostree/…/vmlinuz-…"); no initrd: empty
    std::string linux;
    std::string initrd;
    /// as the entry has them, with root= and ostree=
    std::vector<std::string> arguments;
    /// the directory that "loader" leads to, in the file system of /boot
    Inode loader = 0;
};

/// Reads what a deployment of the commit needs to know. The headers of all file objects are read
/// for it, but no content other than that of the kernel and its initramfs. Throws Error for a
/// commit without a kernel in /usr/lib/modules, for a stateroot or remote that cannot be chosen
/// (ErrorKind::usage), for objects that are missing or malformed.
[[nodiscard]] DeploymentPlan plan_deployment(const Context& ctx, const RepositoryView& repository,
                                             const CommitView& commit, const DiskRequest& request);

/// Writes the repository, the deployment and the stateroot into the root file system, kernel and
/// boot entry into that of /boot, and what the request injects into the volumes' directories into
/// those; the caller may add to all (with the labels of `labels`) and finishes them. In /boot it
/// makes "ostree", "loader.1", "loader", "boot" (a link to "."), and "efi", the mount point, if the
/// target has an EFI system partition. Every object is compared with its checksum while it is
/// written. Throws Error: objects that are missing or do not have their checksum, a file system
/// that is full, injected paths that the deployment does not allow.
WrittenDeployment write_deployment(const Context& ctx, const RepositoryView& repository,
                                   const CommitView& commit, const DeploymentPlan& plan,
                                   const DiskRequest& request, const DeploymentTarget& target,
                                   const ImageLabels& labels, DeploymentFileSystems& disk);

}  // namespace edgegpu
