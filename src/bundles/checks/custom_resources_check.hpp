#pragma once

#include "bundles/checks/known_objects.hpp"

namespace edgegpu {

/// Checks that custom resources have a definition that serves their version: in their bundle or one
/// that MicroShift applies before it, in MicroShift, or in a package of the image; and that a
/// definition has the name that the API server demands.
void check_custom_resources(const KnownObjects& known, Findings& findings);

}  // namespace edgegpu
