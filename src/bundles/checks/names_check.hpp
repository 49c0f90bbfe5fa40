#pragma once

#include "bundles/checks/known_objects.hpp"
#include "bundles/pods.hpp"

namespace edgegpu {

/// Checks what the API server demands of names, labels and annotations beyond the schemas, and the
/// size of config maps and secrets.
void check_names_and_labels(const KnownObjects& known, const std::vector<PodTemplate>& pods,
                            Findings& findings);

}  // namespace edgegpu
