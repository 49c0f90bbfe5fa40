#pragma once

#include <string_view>

#include "disk/disk.hpp"
#include "execution/context.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// Whether an initramfs (cpio archives one after another, the last one compressed or not) contains
/// the text, as the name of a file. False for one that cannot be read.
[[nodiscard]] bool initramfs_contains(std::string_view initramfs, std::string_view text);

/// Checks that the image starts on EC2 and can be reached there: the driver of its disks (nvme) is
/// in the kernel or in the initramfs, that of its network (ena) in the kernel or among its modules:
/// Error with what to add. Warns if console=ttyS0, which EC2 shows, is not among the kernel
/// arguments.
void check_for_ec2(const Context& ctx, const CommitView& commit, const DiskRequest& request);

}  // namespace edgegpu
