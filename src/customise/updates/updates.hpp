#pragma once

#include <optional>

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Puts edgegpu-update (customise/device) into the image, with its timer and the settings of
/// `[updates]`; nothing without that table. Throws ErrorKind::usage, at the blueprint's line, for
/// programs and time zones that the image does not have.
void add_updates(const Context& ctx, const std::optional<UpdatesRequest>& updates, Tree& tree);

/// Adds the unit that lets systemd prepare an image for snapshots at its first boot
/// (src/customise/device/snapshot-update), if the image has systemd.
void add_snapshot_update(const Context& ctx, Tree& tree);

}  // namespace edgegpu
