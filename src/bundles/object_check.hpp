#pragma once

#include <string_view>
#include <vector>

#include "bundles/render.hpp"
#include "bundles/schema/kubernetes_version.hpp"

namespace edgegpu {

/// The Kubernetes that a MicroShift carries whose version is known from a request or a package
/// ("4.18.*", "4.18.5"); the nearest one that edgegpu has schemas of. For other text, and if it is
/// empty, the newest.
[[nodiscard]] KubernetesVersion kubernetes_for(std::string_view microshift);

/// Checks all objects with the schemas of a version of Kubernetes. Throws ErrorKind::usage with all
/// problems, each with the place in a file of the bundle, if the object is found there: kustomize
/// may have changed its name or made the object itself.
void check_objects(const std::vector<RenderedBundle>& bundles, KubernetesVersion version);

}  // namespace edgegpu
