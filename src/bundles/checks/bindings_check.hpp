#pragma once

#include "bundles/checks/known_objects.hpp"

namespace edgegpu {

/// Checks the roles and service accounts that role bindings name: a binding of what does not exist
/// grants nothing, without a word.
void check_bindings(const KnownObjects& known, Findings& findings);

}  // namespace edgegpu
