#pragma once

#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

/// Checks that services select pods, and that their named target ports are ports of these pods.
void check_services(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                    Findings& findings);

/// Checks the services, and their ports, to which ingresses, routes, webhooks and API services
/// refer, and the workloads that autoscalers scale.
void check_service_references(const KnownObjects& known, Findings& findings);

}  // namespace edgegpu
