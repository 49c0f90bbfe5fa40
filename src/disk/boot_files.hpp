#pragma once

#include <string>

#include "disk/commit_objects.hpp"
#include "disk/deployment.hpp"
#include "disk/kernel_layout.hpp"

namespace edgegpu {

/// The deployment's boot entry, of the Boot Loader Specification, as ostree writes it.
[[nodiscard]] std::string boot_entry(const DeploymentPlan& plan, const KernelLayout& layout,
                                     const DeploymentTarget& target);

/// Writes kernel, initramfs and boot entry into the empty file system for /boot. Throws Error.
WrittenDeployment write_boot_files(const CommitObjects& objects, const KernelLayout& layout,
                                   const DeploymentPlan& plan, const DeploymentTarget& target,
                                   const ImageLabels& labels, Ext4Writer& boot);

}  // namespace edgegpu
