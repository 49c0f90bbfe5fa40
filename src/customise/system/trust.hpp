#pragma once

#include <string>
#include <vector>

#include "image/tree.hpp"
#include "support/context.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Puts `customizations.cacerts.pem_certs` (and those of first boot scripts) among the image's
/// trust anchors, each certificate in a file named by its serial number, and has the image's own
/// tool make the bundles: update-ca-trust (/etc/pki/ca-trust/source/anchors), or
/// update-ca-certificates where the image has Debian's layout. Throws ErrorKind::usage with the
/// blueprint's line where it has neither.
void add_trust(const Context& ctx, const std::vector<std::string>& certificates,
               const SourceLocation& location, Tree& tree);

/// Serial number of the first certificate of a PEM text, lower-case hexadecimal. Throws Error for
/// anything else.
[[nodiscard]] std::string certificate_serial(const std::string& pem);

}  // namespace edgegpu
