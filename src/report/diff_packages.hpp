#pragma once

#include <string>
#include <vector>

#include "resolve/resolution.hpp"

namespace edgegpu {

/// A change of a package.
struct PackageChange {
    std::string name;
    std::string arch;
    /// "[epoch:]version-release"; empty if the package was added
    std::string before;
    /// the same; empty if it was removed
    std::string now;

    /// "added", "removed", "upgraded" or "downgraded", with versions compared like RPM does.
    [[nodiscard]] const char* kind() const;
};

/// The changes, sorted by name and architecture. For a package with several installed versions
/// (kernels), versions are removed and added, unless exactly one was replaced.
[[nodiscard]] std::vector<PackageChange> compare_packages(const std::vector<Nevra>& before,
                                                          const std::vector<Nevra>& now);

}  // namespace edgegpu
