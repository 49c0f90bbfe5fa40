#pragma once

#include <string>
#include <vector>

#include "resolve/resolution.hpp"

namespace edgegpu {

/// A package that came, went or has another version.
struct PackageChange {
    std::string name;
    std::string arch;
    /// "[epoch:]version-release"; empty where the package is new
    std::string before;
    /// the same; empty where it is gone
    std::string now;

    /// "added", "removed", "upgraded" or "downgraded", in RPM's order of versions.
    [[nodiscard]] const char* kind() const;
};

/// What differs, by name, architecture and version. A package that several versions are installed
/// of (kernels) counts as another version only where exactly one went and one came.
[[nodiscard]] std::vector<PackageChange> compare_packages(const std::vector<Nevra>& before,
                                                          const std::vector<Nevra>& now);

}  // namespace edgegpu
