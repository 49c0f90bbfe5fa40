#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "disk/ext4/ext4.hpp"
#include "execution/context.hpp"

namespace edgegpu {

/// Bytes in front of the data of an encrypted partition: LUKS2's header and key slots, with room
/// for encrypting the data anew.
inline constexpr std::uint64_t luks_header_size = 16U << 20U;

/// Encrypts a finished ext4 file system in place (AES-XTS-256, sectors of 4096 bytes) with a new
/// random key, and writes a LUKS2 header into the `luks_header_size` bytes in front of it. The
/// passphrase is empty: anybody can unlock it, until the device replaces the key. Blocks that the
/// file system does not use stay holes. `uuid` is the header's. Needs neither root nor device
/// mapper. Throws Error.
void encrypt_ext4(const Context& ctx, const std::filesystem::path& disk, const Ext4Format& format,
                  const std::string& uuid);

/// Kernel arguments by which the initramfs unlocks the root partition with the LUKS header `uuid`:
/// by the TPM if it has the key, else by the empty passphrase.
[[nodiscard]] std::vector<std::string> luks_arguments(const std::string& uuid);

}  // namespace edgegpu
