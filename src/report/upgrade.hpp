#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/diff.hpp"

namespace edgegpu {

/// Something that a device runs in another form after its restart.
struct RestartClass {
    /// "kernel", "policy" or "user space"
    std::string name;
    /// what has changed: "initramfs", "3 kernel modules"
    std::vector<std::string> reasons;
    bool operator==(const RestartClass&) const = default;
};

/// What an upgrade from the first commit of a diff to the second costs a device that has the first
/// one whole, and pulls the second one object by object.
struct UpgradeCost {
    /// of all objects as they are stored, the commit and its signatures included
    std::uint64_t download_bytes = 0;
    /// HTTP requests for objects; a client also asks for configuration, summary and deltas
    std::uint64_t requests = 0;
    /// Free space in the file system of the repository; what devices keep free is not included.
    std::uint64_t free_bytes = 0;
    /// those that hold, the strongest first; none if no path differs
    std::vector<RestartClass> restart;
};

/// Computes the costs from a diff.
[[nodiscard]] UpgradeCost upgrade_cost(const Diff& diff);

/// "security", "bugfix", "enhancement", "new package" or "other".
[[nodiscard]] const char* advisory_kind(const CommitAdvisory& advisory);
/// "critical", "important", "moderate", "low" or "none".
[[nodiscard]] const char* advisory_severity(const CommitAdvisory& advisory);

}  // namespace edgegpu
