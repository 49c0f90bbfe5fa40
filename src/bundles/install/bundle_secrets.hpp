#pragma once

#include <string>
#include <vector>

#include "blueprint/blueprint.hpp"
#include "bundles/render.hpp"

namespace edgegpu {

/// Throws ErrorKind::usage with all secrets that the bundles would put into the image, except where
/// the blueprint allows them (`[[allow_secrets]]`): those in their files, and the values of Secret
/// objects, which are secrets by their kind, unless they are certificates. Returns warnings of
/// those that are allowed as secrets of one machine.
[[nodiscard]] std::vector<std::string> check_bundle_secrets(
    const Blueprint& blueprint, const std::vector<RenderedBundle>& bundles);

}  // namespace edgegpu
