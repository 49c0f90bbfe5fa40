#pragma once

#include <vector>

#include "bundles/checks/image_facts.hpp"
#include "bundles/render.hpp"

namespace edgegpu {

/// Checks what MicroShift will apply, without network: would the API server take it, would it
/// start, can the image's devices run it? Throws ErrorKind::usage with everything that is wrong in
/// all bundles, each with the place in a file of the bundle where there is one.
void check_bundles(const std::vector<RenderedBundle>& bundles, const ImageFacts& facts);

}  // namespace edgegpu
