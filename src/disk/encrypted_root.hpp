#pragma once

#include <string>
#include <vector>

#include "disk/injection.hpp"

namespace edgegpu {

/// The unit that replaces the key of an encrypted root partition at the first boot, gives the new
/// one to the machine's TPM, and removes the empty passphrase.
[[nodiscard]] Injection encrypt_root_files();

/// Kernel arguments by which the initramfs unlocks the root partition with the LUKS header `uuid`:
/// by the TPM if it has the key, else by the empty passphrase.
[[nodiscard]] std::vector<std::string> luks_arguments(const std::string& uuid);

}  // namespace edgegpu
