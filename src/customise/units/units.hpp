#pragma once

#include <set>
#include <string>

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Writes the units and drop-ins of `[systemd]` (below /usr/lib/systemd/system: they belong to the
/// image), has them and the units among `placed` (paths that overlays brought) verified, and then
/// sets states: presets of all units if asked for, those of `[[systemd.units]]`, those of
/// `customizations.services`. The image's own systemctl and systemd-analyze do it, because only
/// they know [Install] sections, aliases, templates, presets and keys of that systemd.
///
/// Throws ErrorKind::usage for a unit that the image does not have, with near names; for one that
/// it has already where the blueprint brings its own; for one with two states; and for what
/// `check_units` refuses. Masking what is not there is a warning.
void set_units(const Context& ctx, const Blueprint& blueprint, const std::set<std::string>& placed,
               Tree& tree);

}  // namespace edgegpu
