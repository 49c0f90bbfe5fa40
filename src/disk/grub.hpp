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
[[nodiscard]] std::string loader_grub_cfg(const GrubEntry& entry, std::string_view boot_uuid);

}  // namespace edgegpu
