#pragma once

#include "fetch/fetch.hpp"

namespace edgegpu {

/// Checks that an RPM is the package that the metadata say it is: name, epoch, version, release and
/// architecture of its header. A signature says nothing of that: a mirror may offer any signed
/// package under another one's name. Many threads may call it at once. Throws ErrorKind::fetch
/// naming both.
void require_identity(const PackageFile& file);

}  // namespace edgegpu
