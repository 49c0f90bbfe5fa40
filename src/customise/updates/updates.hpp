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

}  // namespace edgegpu
