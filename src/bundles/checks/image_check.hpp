#pragma once

#include <vector>

#include "bundles/checks/findings.hpp"
#include "bundles/checks/image_facts.hpp"

namespace edgegpu {

/// Checks the images of all pods by their names: valid, with a version, for the architecture of the
/// image, and with a CUDA that the driver runs.
void check_images(const std::vector<BundleObject>& objects, const ImageFacts& facts,
                  Findings& findings);

}  // namespace edgegpu
