#pragma once

#include <string>
#include <vector>

#include "repository/commit_view.hpp"

namespace edgegpu {

/// Checks that the image can unlock and keep an encrypted root partition: the programs that replace
/// the key and give it to the TPM; in the initramfs systemd-cryptsetup, dm-crypt, the libraries and
/// drivers of TPMs. Throws one Error that names everything that is missing, and what to add. Also
/// throws if a kernel argument, of the commit or `requested`, tells the initramfs to leave every
/// encrypted disk locked: ErrorKind::usage if it was requested.
void check_for_encryption(const CommitView& commit, const std::vector<std::string>& requested);

}  // namespace edgegpu
