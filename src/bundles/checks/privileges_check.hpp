#pragma once

#include <vector>

#include "bundles/checks/findings.hpp"
#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

/// Pods that the API server refuses for what they ask: by the security context constraints that
/// their service account may use, and by the level of the Pod Security Standards that their
/// namespace enforces; and programs whose service account lacks a right that they are known to
/// need. Only pods in namespaces that the bundles bring are looked at: of others it is unknown what
/// else is in them. Templates in custom resources belong to their operators.
void check_privileges(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                      Findings& findings);

}  // namespace edgegpu
