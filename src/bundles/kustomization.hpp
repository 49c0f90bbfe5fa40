#pragma once

#include "blueprint/toml/mistakes.hpp"
#include "bundles/bundle_files.hpp"

namespace edgegpu {

/// Looks for what kustomize would answer obscurely, or would need the network for, in the bundle's
/// kustomization and in those that it refers to: a directory without a kustomization or with
/// several; entries on other machines, with absolute paths, outside the bundle or not in it; Helm
/// charts. Every mistake has file, line and column. Everything else is left to kustomize.
void check_kustomizations(const BundleFiles& bundle, Mistakes& mistakes);

}  // namespace edgegpu
