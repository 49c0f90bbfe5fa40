#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// GRUB's modules for a BIOS: name in their directory → content.
using GrubModules = std::map<std::string, std::string>;

/// Reads them from `directory` of the commit. Throws Error.
[[nodiscard]] GrubModules read_grub_modules(const CommitView& commit, const std::string& directory);

/// A GRUB with its first modules in one file, as grub-mkimage makes it.
struct GrubImage {
    /// grub-mkimage's name of it: "i386-pc" for a disk, "i386-pc-eltorito" for a CD
    std::string format = "i386-pc";
    /// what it runs first
    std::string config;
    /// where it looks for more of its files, unless `config` says so
    std::string prefix = "(hd0)/grub2";
    /// modules besides those that every image gets
    std::vector<std::string> more_modules;
};

/// Makes it of the image's own modules with the builder's grub-mkimage, in a sandbox. Throws Error.
[[nodiscard]] std::string make_grub_image(const Context& ctx, const GrubModules& modules,
                                          const GrubImage& image);

/// The first 440 bytes of a disk: `boot_image` (boot.img), which loads the sector `core_sector`.
/// Throws Error for what is no boot.img.
[[nodiscard]] std::string master_boot_code(std::string_view boot_image, std::uint64_t core_sector);

/// `core` as it lies on a disk at the sector `first`: its own first sector knows where the others
/// are. Throws Error for what is no core image.
[[nodiscard]] std::string placed_core_image(std::string core, std::uint64_t first);

/// Writes both into `disk`, the core image to the BIOS boot partition `bios`. Throws Error.
void write_bios_loader(const std::filesystem::path& disk, const Partition& bios,
                       std::string_view boot_image, const std::string& core);

}  // namespace edgegpu
