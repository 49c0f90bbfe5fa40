#pragma once

#include <string>
#include <vector>

#include "blueprint/device.hpp"
#include "blueprint/packages.hpp"
#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// The tables of a blueprint that configure units.
struct UnitSettings {
    const SystemdRequest& systemd;
    const ServicesRequest& services;
    const PackageSet& package_set;
    /// Their order names units.
    const std::vector<FirstbootScript>& firstboot;
};

/// "sshd" → "sshd.service"; names with a unit suffix stay unchanged.
[[nodiscard]] std::string full_unit_name(const std::string& name);

/// Writes the units and drop-ins of `[systemd]` below /usr/lib/systemd/system, verifies them and
/// the units in `placed` (paths of overlays and files), and then sets states: presets of all units
/// if requested, those of `[[systemd.units]]`, `customizations.services` and the package set. This
/// is done by the image's own systemctl and systemd-analyze, since [Install] sections, aliases,
/// templates, presets and keys depend on the version of systemd.
///
/// Throws ErrorKind::usage for a unit that the image does not have, with similar names; for a new
/// unit of the blueprint that the image has already; for an enabled one that only targets start
/// which the image does not have; for a unit with two states; and for errors of
/// `check_units`. Masking a unit that does not exist is a warning, and so are a disabled unit that
/// a link of a package starts, and a first boot script ordered by a unit that is not there.
void set_units(const Context& ctx, const UnitSettings& wanted, const PlacedPaths& placed,
               Tree& tree);

}  // namespace edgegpu
