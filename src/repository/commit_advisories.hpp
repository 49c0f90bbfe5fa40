#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/glib.hpp"

namespace edgegpu {

/// An advisory that packages of a commit fix.
struct CommitAdvisory {
    /// "RHSA-2024:1248"
    std::string id;
    /// libdnf's number: 1 security, 2 bugfix, 3 enhancement, 4 new package
    std::uint32_t kind = 0;
    /// 0: none or unknown, 1: low, 2: moderate, 3: important, 4: critical
    std::uint32_t severity = 0;
    /// NEVRAs of packages of the commit, "name-[epoch:]version-release.arch"
    std::vector<std::string> packages;
    /// "CVE-2024-1086", sorted
    std::vector<std::string> cves;
    bool operator==(const CommitAdvisory&) const = default;
};

/// Those in a commit's metadata, an a{sv}; nothing if it does not have them. `commit` is its name.
/// Throws Error if they have another form than rpm-ostree's.
[[nodiscard]] std::optional<std::vector<CommitAdvisory>> advisories_in(GVariant* metadata,
                                                                       std::string_view commit);

}  // namespace edgegpu
