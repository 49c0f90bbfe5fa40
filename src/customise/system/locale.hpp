#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage at the blueprint's line for a time zone, a locale or a keyboard layout
/// that the image does not have, with near names, or with the package that brings them. "C",
/// "POSIX" and "C.UTF-8" are glibc's own, the layout "us" is the kernel's.
void check_locale(const Blueprint& blueprint, const Tree& tree);

}  // namespace edgegpu
