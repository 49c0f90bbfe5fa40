#pragma once

#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

/// Checks the objects that pods need to start: service accounts, config maps and secrets with the
/// keys that are named, claims, priority classes. Pods of custom resources are left out: their
/// operators complete them.
void check_pod_references(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                          Findings& findings);

/// Checks that storage classes exist that claims name, those of stateful sets included.
void check_storage_classes(const KnownObjects& known, Findings& findings);

}  // namespace edgegpu
