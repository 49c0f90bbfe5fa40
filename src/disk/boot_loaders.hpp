#pragma once

#include <string>
#include <vector>

#include "disk/disk.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// The boot loaders that an image brings, found in its commit.
struct BootLoaders {
    /// The directory of the commit whose content the EFI system partition gets
    /// ("/usr/lib/ostree-boot/efi"); empty: none with a GRUB for UEFI.
    std::string efi;
    /// Directories of the EFI system partition that have a GRUB, which reads its grub.cfg there:
    /// "EFI/redhat". Sorted.
    std::vector<std::string> grub_directories;
    /// GRUB's modules for a BIOS ("/usr/lib/grub/i386-pc"); empty: none.
    std::string bios_modules;
    /// Every GRUB above has the command blscfg and so reads ostree's boot entries itself. RHEL's
    /// and Fedora's have, Debian's have not.
    bool blscfg = false;

    /// What can start a disk with this image.
    [[nodiscard]] std::vector<Firmware> firmware() const;
};

/// Looks for shim and GRUB in /usr/lib/ostree-boot/efi/EFI (whose files packages have in
/// /boot/efi/EFI) and for GRUB's modules in /usr/lib/grub/i386-pc. Throws Error if there is
/// neither.
[[nodiscard]] BootLoaders find_boot_loaders(const CommitView& commit);

}  // namespace edgegpu
