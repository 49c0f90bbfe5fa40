#pragma once

#include <string>
#include <vector>

#include "image/tree.hpp"

namespace edgegpu {

/// The files of the policy transaction's result, to be put into the tree.
struct PolicyResult {
    /// absolute path in the image → entry: everything below /etc/selinux and the store
    Entries entries;
    /// paths of the tree that the transaction removed
    std::vector<std::string> removed;
    /// "targeted"
    std::string type;
    /// names of the blueprint's modules that were installed
    std::vector<std::string> modules;
    /// how ordinary containers get the GPU and why so, where the blueprint asks for it
    std::string gpu_access;
};

}  // namespace edgegpu
