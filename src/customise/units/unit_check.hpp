#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "blueprint/device.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The unit that a path of the image defines or extends ("/usr/lib/systemd/system/x.service",
/// "/etc/systemd/system/x.service.d/10.conf" → "x.service"), or empty.
[[nodiscard]] std::string unit_of_path(std::string_view path);

/// Messages of systemd-analyze about one unit.
struct UnitFindings {
    std::vector<std::string> errors;
    /// deprecated settings, and programs that only the device has
    std::vector<std::string> warnings;
};

/// The messages about `unit` and its drop-ins in the output of `systemd-analyze verify`.
[[nodiscard]] UnitFindings findings_of(const std::string& unit, const std::string& output);

/// Paths of the image that overlays and files contain, each with the location in the blueprint that
/// messages name.
using PlacedPaths = std::map<std::string, std::string>;

/// Verifies units with the image's own `systemd-analyze verify`: `units`, of `[systemd]`, and those
/// that have a file in `placed`. Throws ErrorKind::usage with all errors of the first unit that has
/// any; line numbers are those of the unit's file. Only warns if the image has no systemd-analyze.
void check_units(const Context& ctx, const std::vector<UnitRequest>& units,
                 const PlacedPaths& placed, const Tree& tree);

}  // namespace edgegpu
