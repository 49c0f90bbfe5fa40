#pragma once

#include "fetch/fetch.hpp"

namespace edgegpu {

/// Checks that the NEVRA in the header of an RPM is the one in the metadata. A valid signature does
/// not imply that: a mirror may offer any signed package under the name of another. Thread-safe.
/// Throws ErrorKind::fetch naming both NEVRAs.
void require_identity(const PackageFile& file);

}  // namespace edgegpu
