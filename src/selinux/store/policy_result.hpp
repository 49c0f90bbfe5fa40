#pragma once

#include <string>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// The result of the policy transaction, for apply_policy.
struct PolicyResult {
    /// absolute path in the image → entry: everything below /etc/selinux, with the store
    Entries entries;
    /// paths of the tree that the transaction removed
    std::vector<std::string> removed;
    /// "targeted"
    std::string type;
    /// names of the blueprint's modules that were installed
    std::vector<std::string> modules;
    /// how ordinary containers get access to the GPU (GpuAccess::reason), if requested
    std::string gpu_access;
};

}  // namespace edgegpu
