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

/// Units that wait for each other, each cycle once.
[[nodiscard]] std::vector<std::vector<std::string>> ordering_cycles(const std::string& output);

/// Where a file of the image comes from.
struct PlacedFile {
    /// The user's file, or the location in the blueprint that has the content.
    std::string place;
    /// Whether it is a file, whose lines are those of the image's file.
    bool is_file = false;
};

/// `place` as messages show it.
[[nodiscard]] std::string shown_place(const PlacedFile& file);

/// Paths of the image that overlays and files contain.
using PlacedPaths = std::map<std::string, PlacedFile>;

/// A message of systemd-analyze about `unit`, with the user's file and line for the image's
/// ("overlay/usr/lib/systemd/system/x.service:7: …"); `where` is the place for everything else.
[[nodiscard]] std::string placed_finding(const std::string& unit, const std::string& finding,
                                         const PlacedPaths& placed, const std::string& where);

/// Verifies units with the image's own `systemd-analyze verify`: `units`, of `[systemd]`, and those
/// that have a file in `placed`. Throws ErrorKind::usage with all errors, as `placed_finding` has
/// them. Only warns if the image has no systemd-analyze.
void check_units(const Context& ctx, const std::vector<UnitRequest>& units,
                 const PlacedPaths& placed, const Tree& tree);

}  // namespace edgegpu
