#pragma once

#include <string>
#include <vector>

#include "report/tree_changes.hpp"

namespace edgegpu {

/// A change of a file below a directory of units.
struct UnitFileChange {
    /// "sshd.service", "sshd.service.d/10-keygen.conf"
    std::string name;
    std::string path;
    /// "unit", "drop-in" or "alias"
    std::string type;
    /// "added", "removed" or "changed"
    std::string change;
};

/// A link "BY.wants/UNIT" or "BY.requires/UNIT".
struct Enablement {
    std::string unit;
    std::string by;
    /// "wants" or "requires"
    std::string relation;
    // NOLINTNEXTLINE(modernize-use-nullptr): it is wrong about defaulted comparisons
    auto operator<=>(const Enablement&) const = default;
};

/// The changes of systemd's system units; each list is sorted.
struct UnitChanges {
    std::vector<UnitFileChange> files;
    std::vector<Enablement> enabled;
    std::vector<Enablement> disabled;
    std::vector<std::string> masked;
    std::vector<std::string> unmasked;

    [[nodiscard]] bool empty() const;
};

/// Compares /usr/lib/systemd/system and /usr/etc/systemd/system, of which the latter takes
/// precedence, like systemd: a unit is masked by a link to /dev/null or an empty file.
[[nodiscard]] UnitChanges compare_units(const CommitPair& pair, const TreeChanges& changes);

}  // namespace edgegpu
