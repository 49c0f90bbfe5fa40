#pragma once

#include <string>
#include <utility>
#include <vector>

#include "disk/commit_objects.hpp"

namespace edgegpu {

/// What a deployment has in /boot, by the rules of ostree (get_kernel_from_tree_usrlib_modules).
struct KernelLayout {
    /// "uname -r"
    std::string version;
    /// name in /boot/ostree/STATEROOT-CHECKSUM → the commit's file
    std::vector<std::pair<std::string, const CommitFile*>> files;
    /// device trees as a directory, "dtb", or nullptr
    const CommitTree* device_trees = nullptr;
    bool initramfs = false;
    /// there is one device tree for all machines
    bool device_tree = false;
    /// SHA-256 of kernel, initramfs and device trees: the boot checksum
    std::string checksum;
};

/// Throws Error if the commit has no kernel in /usr/lib/modules, or more than one.
[[nodiscard]] KernelLayout read_kernel_layout(const CommitObjects& objects);

}  // namespace edgegpu
