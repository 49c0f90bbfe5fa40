#pragma once

#include <vector>

#include "bundles/checks/findings.hpp"
#include "schema/kubernetes_version.hpp"

namespace edgegpu {

/// Checks all objects with the schemas of a version of Kubernetes, as its API server does.
void check_schemas(const std::vector<BundleObject>& objects, KubernetesVersion version,
                   Findings& findings);

}  // namespace edgegpu
