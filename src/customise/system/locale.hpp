#pragma once

#include "blueprint/device.hpp"
#include "image/tree.hpp"

namespace edgegpu {

// Both throw ErrorKind::usage at the blueprint's line for something that the image does not have,
// with similar names, or with the package that contains it.

/// A time zone.
void check_timezone(const TimezoneRequest& timezone, const Tree& tree);

/// Languages and a keyboard layout. The languages "C", "POSIX" and "C.UTF-8" are glibc's own, the
/// layout "us" is the kernel's.
void check_locale(const LocaleRequest& locale, const Tree& tree);

}  // namespace edgegpu
