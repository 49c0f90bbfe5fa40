#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Opens ports, enables and disables services of the default zone, and gives zones (made where
/// the image has none of that name) their sources, as `[customizations.firewall]` says. The image's
/// own firewall-offline-cmd does it in the sandbox: only it knows the format of that firewalld.
/// Throws ErrorKind::usage with the blueprint's line where the image has no firewalld or no such
/// service, with near names; an Error with firewalld's words where it refuses.
void set_firewall(const Context& ctx, const std::optional<FirewallRequest>& firewall, Tree& tree);

}  // namespace edgegpu
