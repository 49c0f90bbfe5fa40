#pragma once

#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

/// Checks what the API server demands of pods beyond their schema: mounts of volumes that the pod
/// has, one at each path; different names of containers and volumes; a workload's selector that
/// matches its own pods. Pods of custom resources are left out: their operators complete them.
void check_pod_structure(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                         Findings& findings);

}  // namespace edgegpu
