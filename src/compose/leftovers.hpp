#pragma once

#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Removes what scriptlets leave behind and no package contains: backups of account files, locks,
/// caches, random seeds, byte code of Python; byte code that they changed becomes the package's
/// again, and the machine id empty. It would be different in each build, or is wrong on devices.
/// `packaged` are the packages' own files. To be called while nobody but packages and scriptlets
/// has changed the tree, since the names alone do not tell whose a file is.
void remove_leftovers(const Context& ctx, const Entries& packaged, Tree& tree);

}  // namespace edgegpu
