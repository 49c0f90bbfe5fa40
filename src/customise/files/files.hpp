#pragma once

#include "blueprint/blueprint.hpp"
#include "execution/context.hpp"
#include "image/tree.hpp"

namespace edgegpu {

/// Adds `[[customizations.directories]]`, then `[[customizations.files]]`. An existing file is
/// replaced below /etc, which has configuration, and an error elsewhere. Throws ErrorKind::usage
/// with the blueprint's line.
void add_files(const Context& ctx, const std::vector<FileRequest>& files, Tree& tree);

/// Copies the kustomize bundles to where MicroShift applies them when it starts: the first to
/// /etc/microshift/manifests, the others to /etc/microshift/manifests.d/NAME. Throws
/// ErrorKind::usage for links in them. That MicroShift can apply them was checked by
/// `render_bundles`.
void add_bundles(const Context& ctx, const std::vector<BundleRequest>& bundles, Tree& tree);

}  // namespace edgegpu
