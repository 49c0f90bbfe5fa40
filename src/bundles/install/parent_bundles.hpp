#pragma once

#include <vector>

#include "bundles/install/place.hpp"
#include "bundles/render.hpp"
#include "execution/context.hpp"
#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// Compares the bundles of a layer with the manifests of its parent (`[parent]`), which MicroShift
/// applies, too, with the paths that they have on a device. Throws ErrorKind::usage, with all of
/// them, for objects that a bundle of the parent has (MicroShift applies both, and the last one
/// wins), and for those that a tombstone of the parent deletes whenever MicroShift starts. A bundle
/// of the parent that does not render is a warning.
void check_beside_parent(const Context& ctx, const std::vector<RenderedBundle>& bundles,
                         const ManifestFiles& parent, KubernetesVersion kubernetes);

}  // namespace edgegpu
