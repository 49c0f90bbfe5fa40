#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// `firewall` with further sources in the zone `trusted`, for the image's MicroShift; unchanged if
/// the image has no firewalld. Sources that belong to a zone of the image or of `firewall` already
/// stay there, since a source has one zone; warns if that is another zone. `location` stands for
/// the request if `firewall` is nothing.
[[nodiscard]] std::optional<FirewallRequest> with_trusted_sources(
    const Context& ctx, const std::optional<FirewallRequest>& firewall,
    const std::vector<std::string>& sources, const SourceLocation& location, const Tree& tree);

}  // namespace edgegpu
