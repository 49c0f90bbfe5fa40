#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The unit that a path of the image is a file or drop-in of ("/usr/lib/systemd/system/x.service",
/// "/etc/systemd/system/x.service.d/10.conf" → "x.service"), or empty.
[[nodiscard]] std::string unit_of_path(std::string_view path);

/// What of systemd-analyze's output is about a unit: problems, and what is only out of date or
/// concerns a path that is the device's own.
struct UnitFindings {
    std::vector<std::string> errors;
    std::vector<std::string> warnings;
};

/// Picks the lines about `unit` and its drop-ins out of what `systemd-analyze verify` printed.
[[nodiscard]] UnitFindings findings_of(const std::string& unit, const std::string& output);

/// Verifies units with the image's own `systemd-analyze verify`: those of `[systemd]` and those
/// that have a file among `placed`. Throws ErrorKind::usage for the first that has an error, with
/// all of them; lines are those of the unit's file. Warns where the image has no systemd-analyze.
void check_units(const Context& ctx, const Blueprint& blueprint,
                 const std::set<std::string>& placed, const Tree& tree);

}  // namespace edgegpu
