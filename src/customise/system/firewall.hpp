#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Applies `[customizations.firewall]`: ports and services of the default zone, sources of zones,
/// which are created if the image does not have them. The image's own firewall-offline-cmd does it
/// in the sandbox, since the format depends on the version of firewalld. Throws ErrorKind::usage
/// with the blueprint's line if the image has no firewalld or no such service, with similar names;
/// Error with the tool's output if it fails.
void set_firewall(const Context& ctx, const std::optional<FirewallRequest>& firewall, Tree& tree);

}  // namespace edgegpu
