#pragma once

#include <vector>

#include "disk/identity.hpp"
#include "disk/injection.hpp"

namespace edgegpu {

/// What devices do themselves when they have been started from a new disk: units with their
/// scripts, in the /etc of the deployment and enabled there, not in the commit.

/// edgegpu-grow-root.service: grows the root file system to the size of the disk, once.
[[nodiscard]] Injection grow_root_files();

/// edgegpu-encrypt-root.service: replaces the key of an encrypted root partition, gives the new
/// one to the machine's TPM, and removes the empty passphrase.
[[nodiscard]] Injection encrypt_root_files();

/// edgegpu-volume-groups.service: makes the LVM volume groups among the volumes on the partitions
/// that they have on the disk with this identity, unless another installation has left them there.
/// A group that a device makes has UUIDs of its own. Nothing if there are none.
[[nodiscard]] Injection volume_group_files(const std::vector<Volume>& volumes,
                                           const DiskIdentity& identity);

}  // namespace edgegpu
