#pragma once

#include <vector>

#include "bundles/checks/findings.hpp"
#include "bundles/checks/image_facts.hpp"

namespace edgegpu {

/// Checks whether pods that want GPUs can ever run: the amounts that they name are ones that
/// Kubernetes takes, the image has a driver, something offers the resource, the devices' GPUs are
/// as many and have the MIG profiles, and RuntimeClasses exist. What is not known is not checked.
void check_gpus(const std::vector<BundleObject>& objects, const ImageFacts& facts,
                Findings& findings);

}  // namespace edgegpu
