#pragma once

#include "blueprint/blueprint.hpp"
#include "image/tree.hpp"
#include "support/context.hpp"

namespace edgegpu {

/// Adds `[[customizations.directories]]`, then `[[customizations.files]]`. A file that exists is
/// replaced below /etc, where configuration lives, and refused elsewhere.
void add_files(const Context& ctx, const std::vector<FileRequest>& files, Tree& tree);

/// Copies the kustomize bundles to where MicroShift applies them at start: the first to
/// /etc/microshift/manifests, each further one to /etc/microshift/manifests.d/NAME. Each must
/// have exactly one kustomization file.
void add_bundles(const Context& ctx, const std::vector<BundleRequest>& bundles, Tree& tree);

}  // namespace edgegpu
