#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "disk/boot_loaders.hpp"
#include "disk/disk.hpp"
#include "disk/esp.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// What a medium starts: the same for UEFI, which reads it from the EFI system partition, and for a
/// BIOS, which reads it from the ISO 9660 file system.
struct MediumBoot {
    std::string kernel;
    /// the commit's, with the installer's files after it
    std::string initramfs;
    /// of the kernel
    std::string arguments;
    /// shown in the menu
    std::string title;
    /// UUID of /boot of the disk that the medium installs
    std::string boot_uuid;
    /// of the medium's EFI system partition: "XXXX-XXXX"
    std::string esp_uuid;
};

/// The kernel arguments of a medium, as GRUB's language has them: the installer in place of the
/// image's init, and the image's own, which its hardware may need, without those that say where its
/// root is or keep the kernel quiet. Without a console among them there is the first serial port
/// beside the screen. Throws as grub_argument does.
[[nodiscard]] std::string medium_kernel_arguments(const std::vector<std::string>& image);

/// grub.cfg of a medium: the installer, unless the disk is installed already; then that is started,
/// so that a machine whose firmware prefers the medium does not install for ever.
[[nodiscard]] std::string medium_grub_cfg(const MediumBoot& boot);

/// The EFI system partition of a medium: the boot loaders of the image, unchanged, in EFI/BOOT,
/// too, without shim's fallback program, which would write boot entries for the medium into the
/// firmware; kernel and initramfs. Throws Error as esp_files does.
[[nodiscard]] EspFiles medium_esp_files(const CommitView& commit, const BootLoaders& loaders,
                                        const MediumBoot& boot);

/// What an ISO image is made of.
struct IsoContent {
    std::string label;
    /// Unix time of all of its files
    std::int64_t time = 0;
    /// path on the medium → file of the builder
    std::map<std::string, std::filesystem::path> files;
    /// a FAT file system; empty: not started by UEFI
    std::filesystem::path esp;
    /// path on the medium of GRUB's image for CDs, and the builder's file with the code for the
    /// first sector of an USB stick (boot_hybrid.img); empty: not started by a BIOS
    std::string eltorito;
    std::filesystem::path hybrid;
};

/// Writes the ISO image with xorriso; all files are in its directory or below it, which may have
/// any name. Throws Error.
void write_iso(const Context& ctx, const IsoContent& content, const std::filesystem::path& path);

}  // namespace edgegpu
