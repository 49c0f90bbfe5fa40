#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgegpu {

/// Size in bytes of GRUB's environment block, which GRUB rewrites in place.
inline constexpr std::size_t grub_environment_size = 1024;

/// The configuration of the GRUB in the EFI system partition: continues with /grub2/grub.cfg of the
/// file system `boot_uuid`.
[[nodiscard]] std::string esp_grub_cfg(std::string_view boot_uuid);

/// The configuration that is embedded in GRUB's core image for a BIOS: the same.
[[nodiscard]] std::string core_grub_cfg(std::string_view boot_uuid);

/// /boot/grub2/grub.cfg, which stays as it is on the device: environment, terminals, timeout; the
/// entries, which GRUB reads from /boot/loader/entries itself (`blscfg`) or which ostree's
/// generator writes to /boot/loader/grub.cfg at each deployment; greenboot's counting of boots.
[[nodiscard]] std::string boot_grub_cfg(std::string_view boot_uuid, bool blscfg);

/// The first /boot/grub2/grubenv.
[[nodiscard]] std::string grub_environment();

/// A kernel argument, which may have quotes around itself or its value, as a word of GRUB's
/// language with which the kernel gets that argument. GRUB adds the quotes again: it puts an
/// argument with blanks between double quotes, and a backslash, which the kernel does not know,
/// before quotes and backslashes in any (grub_create_loader_cmdline of GRUB's lib/cmdline.c).
/// Throws ErrorKind::usage for an argument that has such a
/// character in it; \xHH is none, which RHEL's GRUB passes as it is.
[[nodiscard]] std::string grub_argument(const std::string& argument);

/// One boot entry as /boot/loader/grub.cfg has it.
struct GrubEntry {
    std::string title;
    /// paths in the file system of /boot; `initrd` may be empty
    std::string linux;
    std::string initrd;
    /// the kernel's
    std::vector<std::string> arguments;
};

/// The first /boot/loader/grub.cfg, in the form in which ostree's generator writes the next ones.
/// Throws as grub_argument does.
[[nodiscard]] std::string loader_grub_cfg(const GrubEntry& entry, std::string_view boot_uuid);

}  // namespace edgegpu
