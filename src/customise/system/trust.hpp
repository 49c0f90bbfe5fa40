#pragma once

#include <string>
#include <vector>

#include "customise/units/unit_check.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"
#include "support/source_location.hpp"

namespace edgegpu {

/// Adds `customizations.cacerts.pem_certs` (and those of first boot scripts) to the image's trust
/// anchors, each certificate in a file named by its serial number, and generates the bundles with
/// the image's own tool: update-ca-trust (/etc/pki/ca-trust/source/anchors), or
/// update-ca-certificates on images with Debian's layout. Throws ErrorKind::usage with the
/// blueprint's line if the image has neither. The bundles are also generated if there are no
/// certificates, but the user's files (`placed`) have anchors, which nothing would read otherwise.
void add_trust(const Context& ctx, const std::vector<std::string>& certificates,
               const SourceLocation& location, const PlacedPaths& placed, Tree& tree);

/// Serial number of the first certificate of a PEM text, lower-case hexadecimal. Throws Error if
/// there is none.
[[nodiscard]] std::string certificate_serial(const std::string& pem);

}  // namespace edgegpu
