#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// The scripts of `[[customizations.firstboot.scripts]]` below /usr/libexec/edgegpu/firstboot,
/// and edgegpu-firstboot.service, which runs them one after the other, in the blueprint's order,
/// once on each device: /var/lib/edgegpu/firstboot.done remembers that across updates. The stamp
/// is written before the first script, so that none runs twice, whatever becomes of it. The first
/// that fails without `ignore_failure` ends the unit as failed.
void add_firstboot(const Context& ctx, const std::vector<FirstbootScript>& scripts, Tree& tree);

}  // namespace edgegpu
