#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "disk/boot_loaders.hpp"
#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Path in the EFI system partition ("EFI/redhat/grubx64.efi") → content.
using EspFiles = std::map<std::string, std::string>;

/// What the EFI system partition of the image contains: everything of `loaders.efi`, unchanged (so
/// that signatures hold); `grub.cfg` in each directory that has a GRUB, which continues with that
/// of the file system `boot_uuid`; and EFI/BOOT/BOOTX64.EFI, which firmware without a boot entry
/// starts: where no package brings it, a copy of the vendor's shim with GRUB beside it, or of GRUB
/// alone if there is no shim. Throws Error for paths that FAT cannot have, such as two that
/// differ in case alone.
[[nodiscard]] EspFiles esp_files(const CommitView& commit, const BootLoaders& loaders,
                                 const std::string& boot_uuid);

/// The size of a file system for these files and a later, larger version of them beside, in bytes.
[[nodiscard]] std::uint64_t esp_size(const EspFiles& files);

/// Makes a FAT32 file system in the partition `esp` of `disk`, whatever its name, with mkfs.vfat,
/// copies the files with mtools and reads them back. All times are `time` (Unix time, FAT has 1980
/// to 2107). Throws Error, also if a file is not there as it was given.
void write_esp(const Context& ctx, const std::filesystem::path& disk, const Partition& esp,
               const EspFiles& files, std::int64_t time);

}  // namespace edgegpu
