#pragma once

#include "bundles/checks/known_objects.hpp"

namespace edgegpu {

/// Checks that each namespace in which a bundle has objects exists when MicroShift applies them: in
/// MicroShift, in a package of the image, or in the same bundle or one that is applied before. An
/// object of a namespaced kind without a namespace is put into "default", as kubectl does.
void check_namespaces(const KnownObjects& known, Findings& findings);

/// Checks that no object is in two bundles: MicroShift applies both at every start, and the later
/// one takes the fields away that only the earlier one has.
void check_duplicates(const KnownObjects& known, Findings& findings);

}  // namespace edgegpu
