#pragma once

#include "repository/commit_view.hpp"

namespace edgegpu {

/// Checks that the image can unlock and keep an encrypted root partition: the programs that replace
/// the key and give it to the TPM; in the initramfs systemd-cryptsetup, dm-crypt, the libraries and
/// drivers of TPMs. Throws one Error that names everything that is missing, and what to add.
void check_for_encryption(const CommitView& commit);

}  // namespace edgegpu
