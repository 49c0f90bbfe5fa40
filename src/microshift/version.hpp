#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/packages.hpp"

namespace edgegpu {

/// A minor version of MicroShift: its configuration changes with no other, and upgrades are counted
/// in them.
struct MicroshiftVersion {
    unsigned major = 0;
    unsigned minor = 0;

    /// "4.18"
    [[nodiscard]] std::string text() const;
    /// Its place in the row of minor versions, in which 5.0 follows 4.22 (pkg/admin/prerun of
    /// MicroShift's sources): 18 of 4.18, 23 of 5.0.
    [[nodiscard]] unsigned number() const;
    /// The inverse of `number`.
    [[nodiscard]] static MicroshiftVersion numbered(unsigned number);
    auto operator<=>(const MicroshiftVersion&) const = default;
};

/// The version in "4.18.5", "4.18.*" or "4.18"; nothing for other text, such as "4.*", and for
/// major versions whose place in the row is not known.
[[nodiscard]] std::optional<MicroshiftVersion> microshift_version(std::string_view text);

/// The version of the package microshift that a blueprint requests, if it says so.
[[nodiscard]] std::optional<MicroshiftVersion> requested_microshift(
    const std::vector<PackageRequest>& packages);

}  // namespace edgegpu
