#pragma once

#include <string>
#include <vector>

#include "gpu_health/stack.hpp"
#include "report/tree_changes.hpp"
#include "repository/commit_view.hpp"

namespace edgegpu {

/// A part of the GPU software that was added (`before` is empty) or removed (`after` is empty), or
/// has another version.
struct StackChange {
    /// "driver", "flavor", "kernel", "module", "signer", "firmware", "library" or "toolkit"
    std::string part;
    /// "nvidia_uvm" of modules and their signers, "gsp_ga10x.bin", "libcuda.so",
    /// "nvidia-container-toolkit.x86_64"; empty for the others
    std::string name;
    /// versions; of a signer, its name and key
    std::string before;
    std::string after;

    /// "added", "removed" or "changed".
    [[nodiscard]] const char* kind() const {
        return before.empty() ? "added" : after.empty() ? "removed" : "changed";
    }
    bool operator==(const StackChange&) const = default;
};

/// The changes, in the order of `StackChange::part`, then by name. Where files are does not count,
/// nor do the driver's packages: their names contain versions.
[[nodiscard]] std::vector<StackChange> compare_stacks(const gpu_health::Stack& before,
                                                      const gpu_health::Stack& after);

/// The same for two commits, by `edgegpu.gpu-stack` of their metadata. A commit of edgegpu without
/// a driver has an empty stack. Adds to `unknown` which commit does not tell: it was made before
/// edgegpu wrote stacks or by another program, or its text is damaged. Neither is worth a word if
/// neither commit has a driver.
[[nodiscard]] std::vector<StackChange> compare_gpu_stacks(const CommitInfo& before,
                                                          const CommitInfo& after,
                                                          std::vector<Unknown>& unknown);

/// "535 -> 580" if both commits have a driver, of different branches; else empty.
[[nodiscard]] std::string driver_branches(const CommitInfo& before, const CommitInfo& after);

}  // namespace edgegpu
